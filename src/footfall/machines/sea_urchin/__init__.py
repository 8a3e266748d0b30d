"""The sea urchin: twelve spikes on a shell; one spike on a bench, the planar kick, the whole
robot.
"""
