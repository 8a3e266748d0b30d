"""What can be swapped: a folder per slot; its `base.py` is the contract."""
