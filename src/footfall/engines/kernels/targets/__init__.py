"""Kinds of machines, a folder each: a header that the generated text stands on, and a compiler."""
