"""What the tests of the operator share: the API server, the operator as a process, jobs, waiting, leaks."""
