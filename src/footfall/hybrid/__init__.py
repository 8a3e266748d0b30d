"""What a hybrid system is.

The contract between machines and the engines that move them through time.
"""
