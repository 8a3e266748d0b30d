"""Message types of ROS 2 that our logs hold, as ROS writes them (`ros2 interface show`).

Their fields, without comments: std_msgs, geometry_msgs, sensor_msgs, tf2_msgs of ROS 2 Humble and
later (github.com/ros2/common_interfaces, geometry2). Foxglove, rerun and rviz know these types by
name.
"""

_PARTS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation\n"
    "geometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/Transform transform",
}

_WHOLE = {
    "std_msgs/msg/String": "string data",
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "sensor_msgs/msg/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\n"
    "float64[] velocity\nfloat64[] effort",
    "geometry_msgs/msg/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "sensor_msgs/msg/Imu": "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\n"
    "float64[9] orientation_covariance\ngeometry_msgs/Vector3 angular_velocity\n"
    "float64[9] angular_velocity_covariance\ngeometry_msgs/Vector3 linear_acceleration\n"
    "float64[9] linear_acceleration_covariance",
    "sensor_msgs/msg/BatteryState": "std_msgs/Header header\nfloat32 voltage\n"
    "float32 temperature\nfloat32 current\nfloat32 charge\nfloat32 capacity\n"
    "float32 design_capacity\nfloat32 percentage\nuint8 power_supply_status\n"
    "uint8 power_supply_health\nuint8 power_supply_technology\nbool present\n"
    "float32[] cell_voltage\nfloat32[] cell_temperature\nstring location\nstring serial_number",
}

_RULE = "=" * 80


def definition(name: str) -> str:
    """The text of a type with all that it is made of, as a ros2msg schema has it.

    >>> print(definition("std_msgs/msg/String"))
    string data
    <BLANKLINE>
    """
    return with_parts(_WHOLE[name])


def with_parts(fields: str) -> str:
    """Fields, and after them every type they are made of."""
    text, needed = fields + "\n", _types(fields)
    for part in needed:
        needed += [more for more in _types(_PARTS[part]) if more not in needed]
        text += f"{_RULE}\nMSG: {part}\n{_PARTS[part]}\n"
    return text


def _types(fields: str) -> list[str]:
    names = [line.split()[0].partition("[")[0] for line in fields.splitlines()]
    return [name for name in dict.fromkeys(names) if "/" in name]
