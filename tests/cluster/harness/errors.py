class ClusterError(Exception):
    """A failure with a message for the person who runs the cluster."""
