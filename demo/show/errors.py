# SPDX-License-Identifier: Apache-2.0
class DemoError(RuntimeError):
    """What went wrong, in words for the person who watches."""
