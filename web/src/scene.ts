// The robot on its ground, lit, with a camera that follows it.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Drag } from "./drag";
import { clipped, GroundView, traced, type Line } from "./ground";
import type { History } from "./history";
import type { Page } from "./page";
import { onTheme, theme } from "./palette";
import { familyOf, Pose, Robot } from "./shapes";
import type { Now } from "./source";

/** Half of what is seen of the ground along and across, in lengths of the robot. */
const [ALONG, ACROSS] = [14, 9];
/** Frames slower than this for a while are drawn with fewer pixels [ms]. */
const SLOW = 40;
/** After so many frames without a change a picture stands, and is drawn with so many pixels for each of the screen's. */
const [STANDS, SHARP] = [12, 2];
/** The robot's share of the picture at first, across and up; two robots are seen from so much farther. */
const [FILLED, BOTH] = [[0.68, 0.62], 1.12];
/** How fast the camera goes after the robot, along and up [1/s]. */
const [QUICK, CALM] = [12, 1.2];

export type Heights = (xs: Float64Array) => Promise<Float64Array | null>;

export class SceneView {
  follow = true;
  frames = 0;
  /** Of what is drawn beside the robot's motion. */
  private changes = 0;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 200);
  private readonly controls: OrbitControls;
  private readonly sun = new THREE.DirectionalLight("#fff8ec", 2.6);
  private readonly sky = new THREE.HemisphereLight("#ffffff", "#b8b2a6", 1.5);
  private readonly robot: Robot;
  private readonly ghost: Robot | null;
  readonly drag: Drag;
  private ground: GroundView | null = null;
  private size = 1;
  private target = new THREE.Vector3();
  private shown: THREE.Vector3 | null = null;
  private laid: { x: number; y: number } | null = null;
  private laying = false;
  private slow = 0;
  private last = 0;
  private stamp = "";
  private still = 0;
  private sharpness: number;
  private ratio = Math.min(globalThis.devicePixelRatio || 1, 2);

  constructor(
    private readonly page: Page,
    private readonly history: History,
    private readonly canvas: HTMLCanvasElement,
    private readonly heights: Heights,
    private readonly other: History | null = null,
  ) {
    const software = drawnByProcessor();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !software, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = software ? THREE.BasicShadowMap : THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.56 * Math.PI;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.setScalar(software ? 512 : 1024);
    if (software) this.ratio = 0.6;
    this.sharpness = software ? 1 : 8;
    this.sun.shadow.bias = -2e-4;
    this.sun.shadow.normalBias = 0.002;
    this.robot = new Robot(page.scene.shapes, history);
    this.ghost = page.ghost && other ? new Robot(page.ghost.shapes, other, true) : null;
    if (this.ghost) this.scene.add(this.ghost.root);
    this.drag = new Drag(canvas, this.camera, this.controls, this.robot);
    this.scene.add(this.sun, this.sun.target, this.sky, this.robot.root, this.drag.root);
    onTheme(() => this.dress());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
  }

  /** Once there is a first row: measure the robot, set up what depends on its size. */
  async begin(sketch: ArrayLike<number>): Promise<void> {
    this.robot.build(sketch);
    this.ghost?.build();
    const box = this.robot.box(0);
    this.size = Math.max(box.getSize(new THREE.Vector3()).length(), 0.02) * 0.85;
    this.robot.size = this.drag.size = this.size;
    if (this.page.scene.ground) {
      this.ground = new GroundView(this.page.scene.ground.water, this.size, ACROSS * this.size, this.sharpness);
      this.scene.add(this.ground.root);
    }
    const reach = 1.3 * this.size;
    const shadow = this.sun.shadow.camera;
    [shadow.left, shadow.right, shadow.top, shadow.bottom] = [-reach, reach, reach, -reach];
    [shadow.near, shadow.far] = [0.1 * this.size, 12 * this.size];
    shadow.updateProjectionMatrix();
    [this.camera.near, this.camera.far] = [0.02 * this.size, 60 * this.size];
    [this.controls.minDistance, this.controls.maxDistance] = [0.4 * this.size, 25 * this.size];
    box.getCenter(this.target);
    this.home();
    this.dress();
    this.resize();
    await this.lay(this.target.x, this.target.y);
  }

  /** Whether it is a robot in space: seen more from above. */
  private spreads(): boolean {
    const size = this.robot.box(0).getSize(new THREE.Vector3());
    return size.y > 0.5 * Math.max(size.x, size.z);
  }

  /** The camera where it was at first: from the right and a little ahead of the side. */
  home(): void {
    const away = new THREE.Vector3(0.42, -1, this.spreads() ? 0.55 : 0.3).normalize();
    this.shown = this.target.clone();
    this.controls.target.copy(this.target);
    this.camera.position.copy(this.target).addScaledVector(away, this.distance(away));
    this.controls.update();
  }

  /** From how far the robot fills its share of the picture, seen from this side. */
  private distance(away: THREE.Vector3): number {
    const right = new THREE.Vector3().crossVectors(this.camera.up, away).normalize();
    const up = new THREE.Vector3().crossVectors(away, right);
    const box = this.robot.box(0);
    const [high, wide] = [Math.tan(THREE.MathUtils.degToRad(this.camera.fov / 2)), this.camera.aspect];
    let far = 0;
    for (let corner = 0; corner < 8; corner++) {
      const [x, y, z] = [1, 2, 4].map((bit) => (corner & bit ? box.max : box.min));
      const at = new THREE.Vector3(x.x, y.y, z.z).sub(this.target);
      const across = Math.abs(at.dot(right)) / (FILLED[0] * high * wide);
      far = Math.max(far, at.dot(away) + Math.max(across, Math.abs(at.dot(up)) / (FILLED[1] * high)));
    }
    return Math.min(Math.max(far * (this.ghost ? BOTH : 1), 1.2 * this.size), 6 * this.size);
  }

  orbit(turn: number, lift: number, zoom = 1): void {
    const offset = this.camera.position.clone().sub(this.controls.target);
    const at = new THREE.Spherical().setFromVector3(new THREE.Vector3(offset.x, offset.z, -offset.y));
    at.theta += turn;
    at.phi = Math.min(Math.max(at.phi - lift, 0.05), this.controls.maxPolarAngle);
    at.radius = Math.min(Math.max(at.radius * zoom, this.controls.minDistance), this.controls.maxDistance);
    const moved = new THREE.Vector3().setFromSpherical(at);
    this.camera.position.copy(this.controls.target).add(new THREE.Vector3(moved.x, -moved.z, moved.y));
  }

  /** Where a group of outputs is on the screen [px]. */
  onScreen(group: string): [number, number] | null {
    const found = this.robot.joints(new Set([familyOf(group)])).find((joint) => joint.group === group);
    const seen = found?.at.project(this.camera);
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    return seen ? [left + ((seen.x + 1) / 2) * width, top + ((1 - seen.y) / 2) * height] : null;
  }

  showForces(shown: boolean): void {
    this.robot.arrows.visible = shown;
    this.changes++;
  }

  /** Shapes with other numbers; the ground too. */
  rebuild(sketch: ArrayLike<number>): void {
    const forces = this.robot.arrows.visible;
    this.robot.build(sketch);
    this.robot.arrows.visible = forces;
    this.laid = null;
    this.changes++;
  }

  private dress(): void {
    const { sky, haze } = theme();
    this.scene.background = new THREE.Color(sky).lerp(new THREE.Color(haze), 0.5);
    this.scene.fog = new THREE.Fog(this.scene.background, 4 * this.size, 10 * this.size);
    this.changes++;
    this.ground?.paint();
    if (this.history.length) this.robot.build();
    this.ghost?.build();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    if (!width || !height) return;
    const before = this.camera.aspect;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.changes++;
    if (before === 1 && this.history.length) this.home();
  }

  private async lay(x: number, y: number): Promise<void> {
    const ground = this.page.scene.ground;
    if (!this.ground || !ground || this.laying) return;
    this.laying = true;
    const [x0, x1] = [x - ALONG * this.size, x + ALONG * this.size];
    const line: Line = (await traced(this.heights, x0, x1, this.size)) ?? clipped(ground.points, x0, x1);
    this.ground.lay(line, y);
    this.laid = { x, y };
    this.laying = false;
    this.changes++;
  }

  /** Draw a row. */
  draw(row: number, seconds: number, { time, pulled = null }: { time: number; pulled?: Now["pulled"] }): void {
    if (!this.history.length) return;
    this.frames++;
    const past = Math.min(seconds - this.last, 0.2);
    this.last = seconds;
    this.controls.update();
    this.drag.follow();
    // Where nothing moves nothing is drawn.
    const eye = this.camera.position.toArray().map((place) => (place / this.size).toFixed(4));
    const stamp = `${row} ${this.ghost ? time : ""} ${this.history.end} ${eye} ${this.changes} ${pulled?.force}`;
    const moved = stamp !== this.stamp;
    this.still = moved ? 0 : this.still + 1;
    // A picture that stands is drawn once more, with all its pixels.
    const sharpen = this.still === STANDS && this.ratio < 1;
    if (!moved && !sharpen && !this.page.scene.ground?.water) return;
    this.stamp = stamp;
    const drawn = sharpen ? SHARP : this.ratio;
    if (this.renderer.getPixelRatio() !== drawn && (moved || sharpen)) this.renderer.setPixelRatio(drawn);
    const pose = new Pose(this.history, row);
    this.robot.update(pose);
    if (this.other) this.ghost?.update(new Pose(this.other, this.other.rowAt(time - this.history.begin + this.other.begin)));
    const middle = new THREE.Vector3();
    const at = new THREE.Vector3();
    for (const group of this.robot.groups) middle.add(pose.origin(group, at));
    middle.divideScalar(Math.max(1, this.robot.groups.length));
    if ([middle.x, middle.y, middle.z].every(Number.isFinite)) this.target.copy(middle);
    this.track(past);
    const far = !this.laid || Math.hypot(this.target.x - this.laid.x, this.target.y - this.laid.y) > 3 * this.size;
    if (far) void this.lay(this.target.x, this.target.y);
    this.ground?.animate(seconds);
    this.sun.position.copy(this.target).add(new THREE.Vector3(-1.2, -2.2, 4.2).multiplyScalar(this.size));
    this.sun.target.position.copy(this.target);
    this.drag.draw(pulled);
    this.renderer.render(this.scene, this.camera);
    if (moved) this.spare(1000 * past);
  }

  /** The camera goes with the robot, smoothly; up and down it goes slower than along. */
  private track(past: number): void {
    if (!this.follow || !this.shown) return;
    const far = this.shown.distanceTo(this.target) > 4 * this.size;
    const move = this.target.clone().sub(this.shown);
    const [along, up] = [1 - Math.exp(-QUICK * past), 1 - Math.exp(-CALM * past)];
    if (!far) move.multiply(new THREE.Vector3(along, along, up));
    this.shown.add(move);
    this.camera.position.add(move);
    this.controls.target.add(move);
  }

  /** Whether what stands has been drawn with all its pixels. */
  get sharp(): boolean {
    return this.still > STANDS || this.ratio >= 1;
  }

  /** For a picture: the camera where it is going. */
  stand(): void {
    this.track(Infinity);
    this.changes++;
  }

  /** On a slow machine fewer pixels. */
  private spare(took: number): void {
    this.slow = took > SLOW ? this.slow + 1 : Math.max(0, this.slow - 0.1);
    if (this.slow < 6 || this.ratio <= 0.5) return;
    this.slow = 0;
    this.ratio = Math.max(0.5, 0.75 * this.ratio);
    this.resize();
  }
}

/** Whether there is no graphics processor: every pixel then costs time. */
function drawnByProcessor(): boolean {
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) throw new Error("this browser has no WebGL");
  const about = probe.getExtension("WEBGL_debug_renderer_info");
  const name = about ? String(probe.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(name);
}
