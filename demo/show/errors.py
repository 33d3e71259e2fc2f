# SPDX-License-Identifier: Apache-2.0
class DemoError(Exception):
    """What went wrong, in words for the person who watches."""
