// The pointer pulls the robot: a press on it holds that point, and the arrow to the pointer is the force.

import * as THREE from "three";
import type { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { make, shown } from "./dom";
import { color } from "./palette";
import type { Grip, Vector } from "./push";
import { Arrow, type Robot } from "./shapes";

/** A press this near to a joint holds it [px]: a finger is wide, a leg is thin. */
const NEAR = 26;
/** Seen steeper than this the pull is level with the ground: share of the view's direction that is down. */
const STEEP = 0.8;

export interface Pull {
  grab(grip: Grip, reach: number, target: Vector): void;
  pullTo(target: Vector): void;
  release(): void;
}

export class Drag {
  /** Where pulls go; without one nothing is held. */
  to: Pull | null = null;
  /** What can be held. */
  groups = new Set<string>();
  private readonly ray = new THREE.Raycaster();
  private readonly plane = new THREE.Plane();
  private readonly target = new THREE.Vector3();
  private readonly arrow = new Arrow();
  private readonly label = make("output", { id: "force", hidden: true });
  private held: number | null = null;
  private pointer = { clientX: 0, clientY: 0 };
  /** How long the robot is [m]. */
  size = 1;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: THREE.Camera,
    private readonly controls: OrbitControls,
    private readonly robot: Robot,
  ) {
    canvas.parentElement!.append(this.label);
    // Before the camera's own listeners, which it then keeps still.
    canvas.addEventListener("pointerdown", (event) => this.press(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const)
      canvas.addEventListener(end, (event) => this.end((event as PointerEvent).pointerId));
  }

  get root(): THREE.Object3D {
    return this.arrow.root;
  }

  private aim({ clientX, clientY }: { clientX: number; clientY: number }): void {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((clientX - box.left) / box.width) * 2 - 1, 1 - ((clientY - box.top) / box.height) * 2);
    this.ray.setFromCamera(at, this.camera);
  }

  private press(event: PointerEvent): void {
    if (!this.to || event.button !== 0 || !event.isPrimary) return;
    this.aim(event);
    const met = this.robot.met(this.ray, this.groups) ?? this.nearest(event);
    if (!met) return;
    this.controls.enabled = false;
    this.held = event.pointerId;
    this.canvas.setPointerCapture(event.pointerId);
    this.plane.setFromNormalAndCoplanarPoint(this.facing(), met.at);
    this.target.copy(met.at);
    this.pointer = event;
    this.canvas.classList.add("held");
    this.to.grab(met.grip, this.size, met.at.toArray() as Vector);
  }

  private move(event: PointerEvent): void {
    if (this.held === event.pointerId) {
      this.pointer = event;
      return;
    }
    this.aim(event);
    if (event.pointerType === "mouse" && !event.buttons && this.to) {
      this.canvas.classList.toggle("over", !!(this.robot.met(this.ray, this.groups) ?? this.nearest(event)));
    }
  }

  private end(pointer: number): void {
    if (this.held !== pointer) return;
    this.held = null;
    this.controls.enabled = true;
    this.canvas.classList.remove("held");
    this.to?.release();
  }

  /** The upright or level plane that the viewer looks at most. */
  private facing(): THREE.Vector3 {
    const { x, y, z } = this.camera.getWorldDirection(new THREE.Vector3());
    if (Math.abs(z) > STEEP) return new THREE.Vector3(0, 0, 1);
    return Math.abs(y) >= Math.abs(x) ? new THREE.Vector3(0, 1, 0) : new THREE.Vector3(1, 0, 0);
  }

  private nearest({ clientX, clientY }: PointerEvent): { grip: Grip; at: THREE.Vector3 } | null {
    const box = this.canvas.getBoundingClientRect();
    let best: { grip: Grip; at: THREE.Vector3 } | null = null;
    let least = NEAR;
    for (const { group, at } of this.robot.joints(this.groups)) {
      const seen = at.clone().project(this.camera);
      const away = Math.hypot(box.left + ((seen.x + 1) / 2) * box.width - clientX, box.top + ((1 - seen.y) / 2) * box.height - clientY);
      if (away < least) [least, best] = [away, { grip: { group, point: [0, 0, 0] }, at }];
    }
    return best;
  }

  /** For each frame: a camera that goes with the robot carries the pointer along. */
  follow(): void {
    if (this.held === null || !this.to) return;
    this.aim(this.pointer);
    if (this.ray.ray.intersectPlane(this.plane, this.target)) this.to.pullTo(this.target.toArray() as Vector);
  }

  /** The arrow from the held point to the pointer, with its force. */
  draw(pulled: { force: Vector; at: Vector } | null | undefined): void {
    const shownNow = !!pulled && this.held !== null;
    this.label.hidden = !shownNow;
    this.arrow.root.visible = shownNow;
    if (!shownNow) return;
    const at = new THREE.Vector3(...pulled.at);
    this.plane.setFromNormalAndCoplanarPoint(this.plane.normal, at); // the pull stays in it
    const along = this.target.clone().sub(at);
    this.arrow.paint(color("mark"));
    this.arrow.lay(at, along, this.size);
    const force = Math.hypot(...pulled.force);
    this.label.textContent = force > 0 ? `${shown(force, 2)} N` : "the ground holds it";
    const seen = this.target.clone().project(this.camera);
    const { clientWidth, clientHeight } = this.canvas;
    this.label.style.transform = `translate(${((seen.x + 1) / 2) * clientWidth + 14}px, ${((1 - seen.y) / 2) * clientHeight - 12}px)`;
  }
}
