"""The kitchen in MuJoCo: what is near the robot, compiled for each motion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import mujoco

from robots.kitchen import arm
from robots.kitchen.bodies import (
    ARM_URDF,
    DRAWER_BRAKE_N,
    DRAWER_KG,
    DRAWER_STOPS_M,
    boxes_of,
    dish_boxes,
    drawer_boxes,
    near_pieces,
    near_things,
)
from robots.kitchen.objects import Thing
from robots.kitchen.simulation import KitchenSimulation
from robots.kitchen.state import KitchenState
from robots.simulation.mujoco_arm import (
    ARM,
    FIXED,
    PAD,
    THING,
    MujocoArm,
    MujocoModel,
    add_box,
    add_thing,
    add_weld,
    leaning,
    new_spec,
    touching,
)
from robots.simulation.world import WorldOwner

_DRAWER = "the drawer"
_FRICTION = (0.5, 0.003, 0.002)
_STANDS = {"contype": FIXED, "conaffinity": ARM | THING | PAD, "friction": _FRICTION}
_LOOSE = {"contype": THING, "conaffinity": ARM | THING | PAD, "friction": _FRICTION}


class MujocoKitchenEngine:
    """MuJoCo for the kitchen."""

    def build(self, state: KitchenState, host: WorldOwner, sliding: str | None) -> MujocoKitchen:
        """Build the simulation of a state."""
        return MujocoKitchen(state, host, sliding)

    def close(self) -> None:
        """Do nothing: no resource is held."""


class MujocoKitchen(MujocoArm, KitchenSimulation):
    """A built simulation in MuJoCo."""

    def __init__(self, state: KitchenState, host: WorldOwner, sliding: str | None = None) -> None:
        """Build the simulation of a state; one drawer can be moved."""
        things = near_things(state, sliding)
        MujocoArm.__init__(self, _model(state, things, sliding), host, state.joints, state.gap_m)
        for thing in things:
            self.place(thing.name, thing.position, thing.quaternion)
        drawer = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, _DRAWER)
        self._drawer = drawer if drawer >= 0 else None
        if sliding is not None and self._drawer is not None:
            self._data.joint(_DRAWER).qpos[:] = state.opening_m(sliding)
        self._begin(state, sliding)

    def numbers(self) -> Mapping[str, int]:
        """Return the bodies of what is near, by name."""
        return self._world.bodies

    def take_handle(self) -> bool:
        """Close the fingers on the handle of the drawer; see `KitchenSimulation`."""
        return self._drawer is not None and self.grasp(self._drawer)

    def opening_m(self) -> float:
        """Return how far the drawer that can be moved is pulled out."""
        return float(self._data.joint(_DRAWER).qpos[0])


def _model(state: KitchenState, things: list[Thing], sliding: str | None) -> MujocoModel:
    spec = new_spec(ARM_URDF, ["hand"])
    driven = len(spec.joints)
    base = spec.body("base")
    base.pos = [*state.base.world(0.0, arm.AHEAD_M), arm.SHOULDER_Z]
    base.quat = leaning(0.0, state.base.angle)
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(type=plane, size=[0, 0, 1], **touching(_STANDS))
    for piece in near_pieces(state):
        turn = leaning(0.0, piece.rectangle[4])
        body = spec.worldbody.add_body(pos=[piece.x, piece.y, 0.0], quat=turn)
        for half, middle in boxes_of(piece):
            add_box(body, half, pos=list(middle), **_STANDS)
        for name, place in state.room.locations.items():
            if place.piece != piece or not place.drawer:
                continue
            moves = name == sliding
            out_m = 0.0 if moves else state.opening_m(name)
            front = piece.local(0.0, -piece.depth / 2 - out_m)
            drawer = spec.worldbody.add_body(pos=[*front, place.floor_z], quat=turn)
            if moves:
                drawer.name = _DRAWER
                _put_on_rails(drawer)
                add_weld(spec, "hand", _DRAWER)
            boxes = drawer_boxes(place)
            for half, middle in boxes:
                mass = {"mass": DRAWER_KG / len(boxes)} if moves else {}
                add_box(drawer, half, pos=list(middle), **_STANDS, **mass)
    for thing in things:
        rests = sliding is None or state.location_of(thing.name) != sliding
        _add_thing(spec, thing, asleep=rests)
    return MujocoModel(spec, driven, [thing.name for thing in things])


def _put_on_rails(drawer: Any) -> None:
    """Let a drawer slide; its joint is how far it is pulled out, metres."""
    drawer.add_joint(
        name=_DRAWER,
        type=mujoco.mjtJoint.mjJNT_SLIDE,
        axis=[0, -1, 0],
        range=list(DRAWER_STOPS_M),
        limited=True,
        frictionloss=DRAWER_BRAKE_N,
    )
    drawer.sleep = mujoco.mjtSleepPolicy.mjSLEEP_NEVER


def _add_thing(spec: Any, thing: Thing, *, asleep: bool) -> None:
    body = add_thing(spec, thing.name, thing.position, thing.quaternion, asleep=asleep)
    length, width, height = thing.kind.size
    mass = thing.kind.mass_kg
    if thing.kind.shape == "dish":
        boxes = dish_boxes(thing.kind)
        whole = sum(math.prod(half) for half, _, _ in boxes)
        for half, middle, turn in boxes:
            share = mass * math.prod(half) / whole
            add_box(body, half, pos=list(middle), quat=leaning(*turn), mass=share, **_LOOSE)
    elif thing.kind.shape == "box":
        add_box(body, (length / 2, width / 2, height / 2), mass=mass, **_LOOSE)
    else:
        size = [length / 2, height / 2, 0.0]
        cylinder = mujoco.mjtGeom.mjGEOM_CYLINDER
        body.add_geom(type=cylinder, size=size, mass=mass, **touching(_LOOSE))
    add_weld(spec, "hand", thing.name)
