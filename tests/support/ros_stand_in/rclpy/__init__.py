"""A stand-in for rclpy of ROS 2: the few calls that our bridge makes, by rclpy's documentation.

docs.ros.org/en/jazzy/p/rclpy/api: `init` once, nodes only after it, `publish` takes a message of the
publisher's type or its serialised bytes, callbacks run inside `spin`, which returns when the context
is shut down. What a network would carry goes through the folder STAND_IN_ROS: published messages are
lines of `published`; a datagram to the socket `cmd_vel` is a message for that topic.
"""

import json
import os
import socket
import threading
from pathlib import Path

_context = threading.Event()  # set while initialised
FOLDER = Path(os.environ["STAND_IN_ROS"])


class NotInitializedException(Exception):
    """As rclpy.exceptions has it."""


def init(*, args=None, context=None, domain_id=None, signal_handler_options=None):
    if _context.is_set():
        raise RuntimeError("Context.init() must only be called once")
    _context.set()


def ok(*, context=None):
    return _context.is_set()


def shutdown(*, context=None):
    if not _context.is_set():
        raise RuntimeError("Context must be initialized before it can be shutdown")
    _context.clear()


def create_node(node_name, **options):
    if not ok():
        raise NotInitializedException("rclpy.init() has not been called", "cannot create node")
    return Node(node_name)


def spin(node, executor=None):
    while ok():
        for subscription in node.subscriptions:
            subscription.take(0.05)


class Node:
    def __init__(self, name):
        self.name, self.subscriptions = name, []

    def create_publisher(self, msg_type, topic, qos_profile, **options):
        return Publisher(msg_type, topic, qos_profile)

    def create_subscription(self, msg_type, topic, callback, qos_profile, *, raw=False):
        self.subscriptions.append(Subscription(msg_type, topic, callback, raw))
        return self.subscriptions[-1]

    def get_logger(self):
        return Logger()


class Logger:
    def warning(self, message, **options):
        with (FOLDER / "warnings").open("a") as file:
            file.write(message + "\n")


class Publisher:
    def __init__(self, msg_type, topic, qos_profile):
        self.msg_type, self.topic = msg_type, topic
        self._file = (FOLDER / "published").open("a", buffering=1)

    def publish(self, msg):
        if not isinstance(msg, bytes):
            raise TypeError(f"Expected {self.msg_type}, got {type(msg)}: this stand-in has bytes")
        said = {"topic": self.topic, "type": self.msg_type.__name__, "data": msg.hex()}
        self._file.write(json.dumps(said) + "\n")


class Subscription:
    def __init__(self, msg_type, topic, callback, raw):
        assert not raw, "the bridge takes messages as objects"
        self._type, self._callback = msg_type, callback
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(FOLDER / topic.strip("/")))

    def take(self, timeout):
        self._socket.settimeout(timeout)
        try:
            data = self._socket.recv(1000)
        except TimeoutError:
            return
        message = self._type()
        message.linear.x, message.angular.z = json.loads(data)
        self._callback(message)
