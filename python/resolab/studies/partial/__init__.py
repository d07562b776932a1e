"""The study of partial responses: many names in one message against a message each (docs/method/partial-responses.md).

For: the times of the answers, by transport, handshake and delays of names. Not for: the bytes of messages by layer
(`scripts/bench partial`).
"""
