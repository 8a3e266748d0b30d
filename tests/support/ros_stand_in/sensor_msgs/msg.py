"""Of sensor_msgs: types that are only named, for messages travel as bytes."""


class JointState: ...


class Imu: ...


class BatteryState: ...
