"""What a hybrid system is:

the contract between machines and the engines that move them through time.
"""
