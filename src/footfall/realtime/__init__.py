"""The control stack against the machine's clock.

Each program a process, each line a serial port or a pair of sockets, each run a log.

The programs themselves are in footfall.machines.control and know nothing of this. Only named ports
are opened, and nothing listens on a network but the bridge to ROS, where it was asked for.
"""
