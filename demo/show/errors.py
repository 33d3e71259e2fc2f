class DemoError(Exception):
    """What went wrong, in words for the person who watches."""
