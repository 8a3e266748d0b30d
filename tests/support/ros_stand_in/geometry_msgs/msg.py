"""Of geometry_msgs: a command of a speed."""


class Vector3:
    def __init__(self):
        self.x = self.y = self.z = 0.0


class Twist:
    def __init__(self):
        self.linear, self.angular = Vector3(), Vector3()
