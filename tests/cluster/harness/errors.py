# SPDX-License-Identifier: Apache-2.0
class ClusterError(Exception):
    """A failure with a message for the person who runs the cluster."""


class NotFoundError(ClusterError):
    """The API server has no such object."""


class NoAnswerError(ClusterError):
    """The API server did not answer, or not in time."""
