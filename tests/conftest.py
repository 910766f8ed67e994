"""What holds for all tests."""

from hypothesis import settings

settings.register_profile("steady", deadline=None)  # how fast an example runs is the machine's, not the code's
settings.load_profile("steady")
