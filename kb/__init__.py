"""Knowledge base and diagnosis engine for serving Kimi K3 with vLLM.

Imports nothing of the application and does no I/O but reading what it is given.
"""
