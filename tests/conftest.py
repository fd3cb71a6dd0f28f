"""What all tests share. That this file stands in a package is what lets tests import `tests.strategies`."""

from hypothesis import settings

# Times say nothing on a machine that others use too.
settings.register_profile("dialmill", deadline=None)
settings.load_profile("dialmill")
