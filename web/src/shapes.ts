// A robot's shapes as meshes that follow a row of outputs.

import * as THREE from "three";
import { member, type History } from "./history";
import type { Num, Point, Shape } from "./page";
import { color } from "./palette";

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
  private sketch: ArrayLike<number> = [];
  /** Groups that are drawn: where the camera looks. */
  readonly groups: string[];

  constructor(
    private readonly shapes: Shape[],
    private readonly history: History,
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
    for (const shape of this.shapes) this.add(shape);
  }

  update(pose: Pose): void {
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
      if (bright) made.emissive.set(color(name)).multiplyScalar(0.35);
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
    mesh.castShadow = true;
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
    const arrow = new THREE.Group();
    const material = this.material(name, true);
    const shaft = new THREE.Mesh(ROD, material);
    const tip = new THREE.Mesh(CONE, material);
    arrow.add(shaft, tip);
    this.arrows.add(arrow);
    this.updates.push((pose) => {
      const length = scale * pose.force(at, along).length();
      arrow.visible = length > 1e-3 * this.size;
      if (!arrow.visible) return;
      pose.origin(at, arrow.position);
      arrow.quaternion.setFromUnitVectors(UP, along.normalize());
      const width = Math.min(0.011 * this.size, 0.12 * length);
      const cone = Math.min(6 * width, 0.5 * length);
      shaft.scale.set(width, length - cone, width);
      tip.scale.set(2.4 * width, cone, 2.4 * width);
      tip.position.y = length - cone;
    });
  }

  /** Length of the robot, for widths of arrows. */
  size = 1;
}
