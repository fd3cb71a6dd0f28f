"""SIMMC, DSTC9 Track 4: the assistant's next action, its response among candidates, and what the user's turn says."""
