"""What can be typed: every verb with its options, by what it is about.

Each loads what does the work (one file per verb, beside this folder) when it is called.
"""
