"""Disentanglement of IRC logs, without Beam: read logs, score reply links, form conversations, evaluate, train.

The method follows Kummerfeld et al., "A Large-Scale Corpus for Conversation Disentanglement" (ACL 2019, P19-1374): every
message replies to one earlier message or starts a conversation, and conversations are the connected components.
The scorer is our own: gradient-boosted trees with a softmax over a message's candidates.
"""
