"""The ready queue: which of the hosts that may be requested is next?"""
