"""A table camera without hardware: draws the felt, the cards on it, hands and faults, and serves the pictures over
HTTP as a network camera does. Imported by ``dealerd camera --simulate``, the demo and tests only.

Not simulated: rolling shutter, a lens' distortion, compression other than JPEG's, cards that bend, fan or lie on
their edge, the shadows that cards throw, a real hand's shape. The fonts are those built into OpenCV.
"""
