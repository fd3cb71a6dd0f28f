"""Voices and recognisers, each behind a small protocol, with fakes for tests beside them."""
