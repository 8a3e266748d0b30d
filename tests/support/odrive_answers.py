"""What the firmware's own parser answered to lines, one after the other on one board.

The parser of ODrive firmware 0.5.6 and 0.5.3 (`ascii_protocol.cpp` with the number formatting of
`fibre-cpp`) was compiled for a PC against a stand-in for the board: axis 0 at 1.25 turns and 2.5
turns/s, axis 1 at -3 and 4, 24 V, set up as the tests' robot. The lines change its state: they are
a session, in this order. Left out is what depends on the PC (a motor number beyond 32 bits) or on
memory that was never written (`w` without a value).
"""

#: Line, answer of 0.5.6.
ANSWERS_056: tuple[tuple[bytes, bytes], ...] = (
    (b"\n", b"unknown command\r\n"),
    (b"\r\n", b"unknown command\r\nunknown command\r\n"),
    (b"   \n", b"unknown command\r\n"),
    (b";only a comment\n", b"unknown command\r\n"),
    (b"f 0\n", b"1.250000 2.500000\r\n"),
    (b"f 1\n", b"-3.000000 4.000000\r\n"),
    (b"f 0\r\n", b"1.250000 2.500000\r\nunknown command\r\n"),
    (b"f 0!", b"1.250000 2.500000\r\n"),
    (b"f\n", b"invalid command format\r\n"),
    (b"f 2\n", b"invalid motor 2\r\n"),
    (b"f -1\n", b"invalid motor 4294967295\r\n"),
    (b"f 0 junk\n", b"1.250000 2.500000\r\n"),
    (b"f0\n", b"1.250000 2.500000\r\n"),
    (b" f 0\n", b"unknown command\r\n"),
    (b"f  1\n", b"-3.000000 4.000000\r\n"),
    (b"fx 1\n", b"invalid command format\r\n"),
    (b"f 0 ; what\n", b"1.250000 2.500000\r\n"),
    (b"r vbus_voltage\n", b"24.000000\r\n"),
    (b"r vbus_voltage ; x\n", b"24.000000\r\n"),
    (b"r ibus\n", b"0.000000\r\n"),
    (b"r  ibus\n", b"0.000000\r\n"),
    (b"r\n", b"invalid command format\r\n"),
    (b"r \n", b"invalid command format\r\n"),
    (b"r nonsense\n", b"invalid property\r\n"),
    (b"r axis0\n", b"invalid property\r\n"),
    (b"r axis0.\n", b"invalid property\r\n"),
    (b"r axis0.error\n", b"0\r\n"),
    (b"r axis1.error\n", b"0\r\n"),
    (b"r axis2.error\n", b"invalid property\r\n"),
    (b"r error\n", b"0\r\n"),
    (b"r axis0.current_state\n", b"1\r\n"),
    (b"r axis0.requested_state\n", b"0\r\n"),
    (b"r axis0.motor.error\n", b"0\r\n"),
    (b"r axis0.encoder.error\n", b"0\r\n"),
    (b"r axis0.controller.error\n", b"0\r\n"),
    (b"r axis0.controller.input_pos\n", b"0.000000\r\n"),
    (b"r axis0.controller.input_vel\n", b"0.000000\r\n"),
    (b"r axis0.controller.input_torque\n", b"0.000000\r\n"),
    (b"r fw_version_major\n", b"0\r\n"),
    (b"r fw_version_minor\n", b"5\r\n"),
    (b"r fw_version_revision\n", b"6\r\n"),
    (b"r hw_version_major\n", b"3\r\n"),
    (b"r serial_number\n", b"200159983\r\n"),
    (b"r axis0.encoder.pos_estimate\n", b"1.250000\r\n"),
    (b"r axis0.encoder.vel_estimate\n", b"2.500000\r\n"),
    (b"r axis0.active_errors\n", b"invalid property\r\n"),
    (b"r axis0.pos_estimate\n", b"invalid property\r\n"),
    (b"r axis0.config.watchdog_timeout\n", b"0.100000\r\n"),
    (b"r axis0.config.enable_watchdog\n", b"1\r\n"),
    (b"r axis0.motor.config.current_lim\n", b"40.000000\r\n"),
    (b"r axis0.motor.config.torque_constant\n", b"0.034000\r\n"),
    (b"r axis0.motor.config.torque_lim\n", b"inf\r\n"),
    (b"r axis0.motor.is_calibrated\n", b"1\r\n"),
    (b"r axis0.motor.current_control.Iq_measured\n", b"0.000000\r\n"),
    (b"r axis0.controller.config.vel_limit\n", b"8.000000\r\n"),
    (b"r axis0.controller.config.vel_gain\n", b"0.160000\r\n"),
    (b"r config.dc_max_negative_current\n", b"-0.010000\r\n"),
    (b"r config.dc_max_positive_current\n", b"inf\r\n"),
    (b"r config.dc_bus_undervoltage_trip_level\n", b"8.000000\r\n"),
    (b"r config.dc_bus_overvoltage_trip_level\n", b"59.919998\r\n"),
    (b"r config.uart_a_baudrate\n", b"115200\r\n"),
    (b"r vbus_voltage.x\n", b"invalid property\r\n"),
    (b"r vbus_voltage extra\n", b"24.000000\r\n"),
    (b"rvbus_voltage\n", b"24.000000\r\n"),
    (b"r vbus_voltage*125\n", b"24.000000*40\r\n"),
    (b"r vbus_voltage *93\n", b"24.000000*40\r\n"),
    (b"r vbus_voltage*\n", b"invalid property\r\n"),
    (b"r vbus_voltage*1\n", b""),
    (b"r vbus_voltage*x\n", b""),
    (b"f 0*118 \n", b"1.250000 2.500000*33\r\n"),
    (b"f 0*118junk\n", b"1.250000 2.500000*33\r\n"),
    (b"*0\n", b"unknown command*47\r\n"),
    (b"f 0*118;c\n", b"1.250000 2.500000*33\r\n"),
    (
        b"hello*98\n",
        (
            b"Please see documentation for more details*3\r\n"
            b"*0\r\n"
            b"Available commands syntax reference:*53\r\n"
            b"Position: q axis pos vel-lim I-lim*11\r\n"
            b"Position: p axis pos vel-ff I-ff*10\r\n"
            b"Velocity: v axis vel I-ff*99\r\n"
            b"Torque: c axis T*6\r\n"
            b"*0\r\n"
            b"Properties start at odrive root, such as axis0.requested_state*\x00Read: r property*125\r\n"
            b"Write: w property value*92\r\n"
            b"*0\r\n"
            b"Save config: ss*17\r\n"
            b"Erase config: se*102\r\n"
            b"Reboot: sr*58\r\n"
        ),
    ),
    (b"f 0;*12\n", b"1.250000 2.500000\r\n"),
    (b"c 0 1.5\n", b""),
    (b"c 0\n", b"invalid command format\r\n"),
    (b"c\n", b"invalid command format\r\n"),
    (b"c 0 nan\n", b""),
    (b"c 0 x\n", b"invalid command format\r\n"),
    (b"c 0 1 2\n", b""),
    (b"c 2 1\n", b"invalid motor 2\r\n"),
    (b"c 0 1.5x\n", b""),
    (b"c 0 0x10\n", b""),
    (b"c 0 1e400\n", b""),
    (b"c0 1\n", b""),
    (b"c 0 1.5000*73\n", b""),
    (b"c 2 1*96\n", b"invalid motor 2*40\r\n"),
    (b"c -1 0\n", b"invalid motor 4294967295\r\n"),
    (b"v 0 2\n", b""),
    (b"v 0 2 0.1\n", b""),
    (b"v 0\n", b"invalid command format\r\n"),
    (b"v 3 1\n", b"invalid motor 3\r\n"),
    (b"p 0 1\n", b""),
    (b"p 0 1 2 3\n", b""),
    (b"p 0\n", b"invalid command format\r\n"),
    (b"p 2 0\n", b"invalid motor 2\r\n"),
    (b"q 0 1\n", b""),
    (b"q 0 1 5 2\n", b""),
    (b"q 0\n", b"invalid command format\r\n"),
    (b"q 2 1\n", b"invalid motor 2\r\n"),
    (b"t 0 1\n", b""),
    (b"t 0\n", b"invalid command format\r\n"),
    (b"t 2 1\n", b"invalid motor 2\r\n"),
    (b"u 0\n", b""),
    (b"u\n", b"invalid command format\r\n"),
    (b"u 9\n", b"invalid motor 9\r\n"),
    (b"es\n", b"invalid command format\r\n"),
    (b"esl 0 10240\n", b"encoder set to 10240\r\n"),
    (b"esl 0\n", b"invalid command format\r\n"),
    (b"esl 2 1\n", b"invalid motor 2\r\n"),
    (b"es 0 1\n", b"invalid command format\r\n"),
    (b"e\n", b"invalid command format\r\n"),
    (
        b"h\n",
        (
            b"Please see documentation for more details\r\n"
            b"\r\n"
            b"Available commands syntax reference:\r\n"
            b"Position: q axis pos vel-lim I-lim\r\n"
            b"Position: p axis pos vel-ff I-ff\r\n"
            b"Velocity: v axis vel I-ff\r\n"
            b"Torque: c axis T\r\n"
            b"\r\n"
            b"Properties start at odrive root, such as axis0.requested_state\r\x00Read: r property\r\n"
            b"Write: w property value\r\n"
            b"\r\n"
            b"Save config: ss\r\n"
            b"Erase config: se\r\n"
            b"Reboot: sr\r\n"
        ),
    ),
    (
        b"i\n",
        (
            b"Hardware version: 3.6-56V\r\n"
            b"Firmware version: 0.5.6\r\n"
            b"Serial number: 123456789ABC\r\n"
        ),
    ),
    (
        b"help\n",
        (
            b"Please see documentation for more details\r\n"
            b"\r\n"
            b"Available commands syntax reference:\r\n"
            b"Position: q axis pos vel-lim I-lim\r\n"
            b"Position: p axis pos vel-ff I-ff\r\n"
            b"Velocity: v axis vel I-ff\r\n"
            b"Torque: c axis T\r\n"
            b"\r\n"
            b"Properties start at odrive root, such as axis0.requested_state\r\x00Read: r property\r\n"
            b"Write: w property value\r\n"
            b"\r\n"
            b"Save config: ss\r\n"
            b"Erase config: se\r\n"
            b"Reboot: sr\r\n"
        ),
    ),
    (
        b"info\n",
        (
            b"Hardware version: 3.6-56V\r\n"
            b"Firmware version: 0.5.6\r\n"
            b"Serial number: 123456789ABC\r\n"
        ),
    ),
    (b"s\n", b""),
    (b"sx\n", b""),
    (b"sc\n", b""),
    (b"x\n", b"unknown command\r\n"),
    (
        b"hello\n",
        (
            b"Please see documentation for more details\r\n"
            b"\r\n"
            b"Available commands syntax reference:\r\n"
            b"Position: q axis pos vel-lim I-lim\r\n"
            b"Position: p axis pos vel-ff I-ff\r\n"
            b"Velocity: v axis vel I-ff\r\n"
            b"Torque: c axis T\r\n"
            b"\r\n"
            b"Properties start at odrive root, such as axis0.requested_state\r\x00Read: r property\r\n"
            b"Write: w property value\r\n"
            b"\r\n"
            b"Save config: ss\r\n"
            b"Erase config: se\r\n"
            b"Reboot: sr\r\n"
        ),
    ),
    (b"R ibus\n", b"unknown command\r\n"),
    (b"?\n", b"unknown command\r\n"),
    (b"w axis0.requested_state 1\n", b""),
    (b"w axis0.requested_state 1.5\n", b""),
    (b"w axis0.requested_state x\n", b"not implemented\r\n"),
    (b"w\n", b"invalid command format\r\n"),
    (b"w nonsense 1\n", b"invalid property\r\n"),
    (b"w vbus_voltage 99\n", b"not implemented\r\n"),
    (b"w axis0.error 0\n", b""),
    (b"w axis0.error 1\n", b""),
    (b"r axis0.error\n", b"1\r\n"),
    (b"w axis0.error 0\n", b""),
    (b"w axis0.motor.config.current_lim -1\n", b""),
    (b"r axis0.motor.config.current_lim\n", b"-1.000000\r\n"),
    (b"w axis0.motor.config.current_lim five\n", b"not implemented\r\n"),
    (b"w axis0.motor.config.current_lim 12.5x\n", b""),
    (b"r axis0.motor.config.current_lim\n", b"12.500000\r\n"),
    (b"w axis0.config.enable_watchdog 7\n", b""),
    (b"r axis0.config.enable_watchdog\n", b"1\r\n"),
    (b"w axis0.config.enable_watchdog 1\n", b""),
    (b"w axis0.controller.input_torque 0.25\n", b""),
    (b"r axis0.controller.input_torque\n", b"0.250000\r\n"),
    (b"w axis0.controller.config.vel_limit 1e9\n", b""),
    (b"r axis0.controller.config.vel_limit\n", b"100000000\r\n"),
    (b"w axis0.controller.config.vel_limit inf\n", b""),
    (b"r axis0.controller.config.vel_limit\n", b"inf\r\n"),
    (b"w axis0.controller.config.vel_limit 12345.678\n", b""),
    (b"r axis0.controller.config.vel_limit\n", b"12345.677\r\n"),
    (b"w axis0.controller.config.vel_limit -0.00001\n", b""),
    (b"r axis0.controller.config.vel_limit\n", b"-0.000010\r\n"),
    (b"w axis0.controller.config.vel_limit 8\n", b""),
    (b"w axis0.controller.config.control_mode 1\n", b""),
    (b"r axis0.controller.config.control_mode\n", b"1\r\n"),
    (b"w axis0 1\n", b"invalid property\r\n"),
    (b"w vbus_voltage 1*105\n", b"not implemented*59\r\n"),
    (b"r axis0.controller.config.input_mode\n", b"5\r\n"),
    (b"r test_property\n", b"0\r\n"),
    (b"w test_property 4294967295\n", b""),
    (b"r test_property\n", b"429496729\r\n"),
    (b"w test_property 0\n", b""),
    (b"z" * 300 + b"\n", b""),
    (b"f 0\n", b"1.250000 2.500000\r\n"),
    (b"r " + b"a" * 240 + b"\n", b"invalid property\r\n"),
    (b"f 0\nf 1\n", b"1.250000 2.500000\r\n-3.000000 4.000000\r\n"),
    (
        b"!f 0!\r\n",
        (b"unknown command\r\n1.250000 2.500000\r\nunknown command\r\nunknown command\r\n"),
    ),
    (b"ss\n", b""),
    (b"sr\n", b""),
    (b"se\n", b""),
)

#: Number of the line above, and what 0.5.3 answered otherwise.
OTHERWISE_053: dict[int, bytes] = {
    26: b"0d\r\n",  # r axis0.error
    27: b"0d\r\n",  # r axis1.error
    29: b"0d\r\n",  # r error
    30: b"1d\r\n",  # r axis0.current_state
    31: b"0d\r\n",  # r axis0.requested_state
    33: b"0d\r\n",  # r axis0.encoder.error
    34: b"0d\r\n",  # r axis0.controller.error
    40: b"3\r\n",  # r fw_version_revision
    60: b"115200d\r\n",  # r config.uart_a_baudrate
    114: (
        b"Hardware version: 3.6-56V\r\nFirmware version: 0.5.3\r\nSerial number: 123456789ABC\r\n"
    ),  # i
    116: (
        b"Hardware version: 3.6-56V\r\nFirmware version: 0.5.3\r\nSerial number: 123456789ABC\r\n"
    ),  # info
    132: b"1d\r\n",  # r axis0.error
    154: b"1d\r\n",  # r axis0.controller.config.control_mode
    157: b"5d\r\n",  # r axis0.controller.config.input_mode
    158: b"0d\r\n",  # r test_property
}
