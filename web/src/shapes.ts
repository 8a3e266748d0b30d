// A robot's shapes as meshes that follow a row of outputs.

import * as THREE from "three";
import { member, type History } from "./history";
import type { Num, Point, Shape } from "./page";
import { color, dark } from "./palette";
import type { Grip } from "./push";

/** Reads one row; zero for a signal that a group does not have. */
export class Pose {
  constructor(
    private readonly history: History,
    private readonly row: number,
  ) {}

  get(group: string, name: string): number {
    return this.history.get(this.row, member(group, name));
  }

  origin(group: string, into = new THREE.Vector3()): THREE.Vector3 {
    return into.set(this.get(group, "x"), this.get(group, "y"), this.get(group, "z"));
  }

  force(group: string, into = new THREE.Vector3()): THREE.Vector3 {
    return into.set(this.get(group, "fx"), this.get(group, "fy"), this.get(group, "fz"));
  }
}

type Update = (pose: Pose) => void;

/** How much of a ghost is seen. */
const GHOST = 0.38;
const UP = new THREE.Vector3(0, 1, 0);
const [tail, head, along] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];

// Shared geometry: a rod of length 1 along y from the origin, a ball, a cone whose tip is at 1.
const ROD = new THREE.CylinderGeometry(1, 1, 1, 14, 1, true).translate(0, 0.5, 0);
const BALL = new THREE.SphereGeometry(1, 28, 18);
const END = new THREE.SphereGeometry(1, 14, 8);
const CONE = new THREE.ConeGeometry(1, 1, 20).translate(0, 0.5, 0);

export class Robot {
  readonly root = new THREE.Group();
  readonly arrows = new THREE.Group();
  private readonly bodies = new Map<string, THREE.Group>();
  private readonly materials = new Map<string, THREE.Material>();
  private updates: Update[] = [];
  private pose: Pose | null = null;
  /** Groups that the shape being made hangs on. */
  private hung: string[] = [];
  private sketch: ArrayLike<number> = [];
  /** Groups that are drawn: where the camera looks. */
  readonly groups: string[];

  constructor(
    private readonly shapes: Shape[],
    private readonly history: History,
    /** A ghost: seen through, without a shadow and without arrows. */
    private readonly ghost = false,
  ) {
    const of = shapes.flatMap((s) =>
      s.shape === "arrow" ? [] : s.shape === "link" ? [s.start, s.end] : [s.body],
    );
    this.groups = [...new Set(of)];
    this.root.add(this.arrows);
  }

  /** Make all meshes, with numbers as the parameters are now. */
  build(sketch = this.sketch): void {
    this.sketch = sketch;
    this.root.clear();
    this.arrows.clear();
    this.root.add(this.arrows);
    this.bodies.clear();
    this.materials.clear();
    this.updates = [];
    for (const shape of this.shapes) if (!this.ghost || shape.shape !== "arrow") this.add(shape);
  }

  update(pose: Pose): void {
    this.pose = pose;
    for (const [name, body] of this.bodies) {
      pose.origin(name, body.position);
      body.rotation.set(pose.get(name, "roll"), pose.get(name, "pitch"), pose.get(name, "yaw"), "ZYX");
    }
    for (const update of this.updates) update(pose);
  }

  /** The box around everything but the arrows, at a row. */
  box(row: number): THREE.Box3 {
    this.update(new Pose(this.history, row));
    this.root.updateMatrixWorld(true);
    const box = new THREE.Box3();
    for (const child of this.root.children) if (child !== this.arrows) box.expandByObject(child);
    return box;
  }

  /** What a ray meets first, of what hangs on these groups (of like legs "tip" for all). */
  met(ray: THREE.Raycaster, groups: Set<string>): { grip: Grip; at: THREE.Vector3 } | null {
    const solid = this.root.children.filter((child) => child !== this.arrows);
    for (const { object, point } of ray.intersectObjects(solid, true)) {
      const hung = ((object.userData.groups ?? []) as string[]).filter((name) => groups.has(familyOf(name)));
      const body = hung.length === 1 ? this.bodies.get(hung[0]) : undefined;
      if (body) return { grip: { group: hung[0], point: body.worldToLocal(point.clone()).toArray() as [number, number, number] }, at: point };
      // A link has no frame of its own: its nearer end is held.
      const ends = this.joints(new Set(hung.map(familyOf))).filter(({ group }) => hung.includes(group));
      const near = ends.sort((a, b) => a.at.distanceTo(point) - b.at.distanceTo(point))[0];
      if (near) return { grip: { group: near.group, point: [0, 0, 0] }, at: near.at };
    }
    return null;
  }

  /** Where the groups are in the row that is drawn. */
  joints(groups: Set<string>): { group: string; at: THREE.Vector3 }[] {
    const here = this.groups.filter((name) => groups.has(familyOf(name)));
    return this.pose ? here.map((group) => ({ group, at: this.pose!.origin(group) })) : [];
  }

  private number(value: Num): number {
    return typeof value === "number" ? value : this.sketch[value.n];
  }

  private point(point: Point): THREE.Vector3 {
    return new THREE.Vector3(...(point.map((n) => this.number(n)) as [number, number, number]));
  }

  private material(name: string, bright = false): THREE.Material {
    const key = `${name} ${bright}`;
    let found = this.materials.get(key);
    if (!found) {
      const made = new THREE.MeshLambertMaterial({ color: color(name) });
      if (this.ghost) Object.assign(made, { transparent: true, opacity: GHOST, depthWrite: false });
      // On dark ground what is not lit would be lost.
      made.emissive.set(color(name)).multiplyScalar(bright ? 0.35 : dark() ? 0.3 : 0);
      this.materials.set(key, (found = made));
    }
    return found;
  }

  private body(name: string): THREE.Group {
    let found = this.bodies.get(name);
    if (!found) {
      this.bodies.set(name, (found = new THREE.Group()));
      this.root.add(found);
    }
    return found;
  }

  private mesh(geometry: THREE.BufferGeometry, material: THREE.Material, into: THREE.Object3D): THREE.Mesh {
    const mesh = new THREE.Mesh(geometry, material);
    mesh.castShadow = !this.ghost;
    mesh.userData.groups = this.hung;
    into.add(mesh);
    return mesh;
  }

  /** A rod with round ends, and how to lay it from one point to another. */
  private rod(radius: number, name: string, into: THREE.Object3D): (a: THREE.Vector3, b: THREE.Vector3) => void {
    const material = this.material(name);
    const shaft = this.mesh(ROD, material, into);
    const ends = [this.mesh(END, material, into), this.mesh(END, material, into)];
    for (const end of ends) {
      end.scale.setScalar(radius);
      end.castShadow = false; // the shaft's is enough
    }
    return (a, b) => {
      along.subVectors(b, a);
      const length = along.length();
      shaft.position.copy(a);
      shaft.scale.set(radius, Math.max(length, 1e-9), radius);
      if (length > 0) shaft.quaternion.setFromUnitVectors(UP, along.divideScalar(length));
      ends[0].position.copy(a);
      ends[1].position.copy(b);
    };
  }

  private add(shape: Shape): void {
    this.hung = shape.shape === "link" ? [shape.start, shape.end] : shape.shape === "arrow" ? [] : [shape.body];
    switch (shape.shape) {
      case "bar": {
        const lay = this.rod(this.number(shape.radius), shape.color, this.body(shape.body));
        return lay(this.point(shape.start), this.point(shape.end));
      }
      case "link": {
        const lay = this.rod(this.number(shape.radius), shape.color, this.root);
        this.updates.push((pose) => lay(pose.origin(shape.start, tail), pose.origin(shape.end, head)));
        return;
      }
      case "ball": {
        const ball = this.mesh(BALL, this.material(shape.color), this.body(shape.body));
        ball.scale.setScalar(this.number(shape.radius));
        ball.position.copy(this.point(shape.centre));
        return;
      }
      case "disc": {
        const radius = this.number(shape.radius);
        const ring = new THREE.TorusGeometry(radius, 0.035 * radius, 12, 64);
        const disc = this.mesh(ring, this.material(shape.color), this.body(shape.body));
        disc.rotation.x = Math.PI / 2;
        disc.position.copy(this.point(shape.centre));
        return;
      }
      case "arrow":
        return this.addArrow(shape.at, this.number(shape.metres_per_newton), shape.color);
    }
  }

  private addArrow(at: string, scale: number, name: string): void {
    const arrow = new Arrow(this.material(name, true));
    this.arrows.add(arrow.root);
    this.updates.push((pose) => arrow.lay(pose.origin(at, tail), pose.force(at, along).multiplyScalar(scale), this.size));
  }

  /** Length of the robot, for widths of arrows. */
  size = 1;
}

/** The name that like legs share: "tip" of "tip.3". */
export function familyOf(group: string): string {
  return group.replace(/\.\d+$/, "");
}

/** An arrow of a length, with a width that suits the robot. */
export class Arrow {
  readonly root = new THREE.Group();
  private readonly shaft: THREE.Mesh;
  private readonly tip: THREE.Mesh;

  constructor(private readonly material: THREE.Material = new THREE.MeshBasicMaterial()) {
    this.shaft = new THREE.Mesh(ROD, material);
    this.tip = new THREE.Mesh(CONE, material);
    this.root.add(this.shaft, this.tip);
  }

  paint(tint: string): void {
    (this.material as THREE.MeshBasicMaterial).color.set(tint);
  }

  /** From a point along a vector; too short a one is not drawn. */
  lay(at: THREE.Vector3, vector: THREE.Vector3, size: number): void {
    const length = vector.length();
    this.root.visible = length > 1e-3 * size;
    if (!this.root.visible) return;
    this.root.position.copy(at);
    this.root.quaternion.setFromUnitVectors(UP, vector.clone().divideScalar(length));
    const width = Math.min(0.011 * size, 0.12 * length);
    const cone = Math.min(6 * width, 0.5 * length);
    this.shaft.scale.set(width, length - cone, width);
    this.tip.scale.set(2.4 * width, cone, 2.4 * width);
    this.tip.position.y = length - cone;
  }
}
