// The robot on its ground, lit, with a camera that follows it.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { clipped, GroundView, traced, type Line } from "./ground";
import type { History } from "./history";
import type { Page } from "./page";
import { onTheme, theme } from "./palette";
import { Pose, Robot } from "./shapes";

/** Half of what is seen of the ground along and across, in lengths of the robot. */
const [ALONG, ACROSS, ACROSS_TURNING] = [14, 2.2, 9];
/** Frames slower than this for a while are drawn with fewer pixels [ms]. */
const SLOW = 45;

export type Heights = (xs: Float64Array) => Promise<Float64Array | null>;

export class SceneView {
  follow = true;
  frames = 0;
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(32, 1, 0.01, 200);
  private readonly controls: OrbitControls;
  private readonly sun = new THREE.DirectionalLight("#fff8ec", 2.6);
  private readonly sky = new THREE.HemisphereLight("#ffffff", "#b8b2a6", 1.5);
  private readonly robot: Robot;
  private ground: GroundView | null = null;
  private size = 1;
  private target = new THREE.Vector3();
  private shown: THREE.Vector3 | null = null;
  private laid: { x: number; y: number } | null = null;
  private laying = false;
  private slow = 0;
  private ratio = Math.min(globalThis.devicePixelRatio || 1, 2);

  constructor(
    private readonly page: Page,
    private readonly history: History,
    private readonly canvas: HTMLCanvasElement,
    private readonly heights: Heights,
  ) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.56 * Math.PI;
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.bias = -2e-4;
    this.sun.shadow.normalBias = 0.002;
    this.robot = new Robot(page.scene.shapes, history);
    this.scene.add(this.sun, this.sun.target, this.sky, this.robot.root);
    onTheme(() => this.dress());
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
  }

  /** Once there is a first row: measure the robot, set up what depends on its size. */
  begin(sketch: ArrayLike<number>): void {
    this.robot.build(sketch);
    const box = this.robot.box(0);
    this.size = Math.max(box.getSize(new THREE.Vector3()).length(), 0.02) * 0.85;
    this.robot.size = this.size;
    if (this.page.scene.ground) {
      const across = this.page.travel?.heading || this.spreads() ? ACROSS_TURNING : ACROSS;
      this.ground = new GroundView(this.page.scene.ground.water, this.size, across * this.size);
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
  }

  /** Whether it is a robot in space: seen more from above. */
  private spreads(): boolean {
    const size = this.robot.box(0).getSize(new THREE.Vector3());
    return size.y > 0.5 * Math.max(size.x, size.z);
  }

  /** The camera where it was at first: from the right and a little ahead of the side. */
  home(): void {
    const narrow = this.camera.aspect < 1 ? 1 / Math.sqrt(this.camera.aspect) : 1;
    const away = new THREE.Vector3(0.42, -1, this.spreads() ? 0.55 : 0.3).normalize();
    this.shown = this.target.clone();
    this.controls.target.copy(this.target);
    this.camera.position.copy(this.target).addScaledVector(away, 2.9 * this.size * narrow);
    this.controls.update();
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

  showForces(shown: boolean): void {
    this.robot.arrows.visible = shown;
  }

  /** Shapes with other numbers; the ground too. */
  rebuild(sketch: ArrayLike<number>): void {
    const forces = this.robot.arrows.visible;
    this.robot.build(sketch);
    this.robot.arrows.visible = forces;
    this.laid = null;
  }

  private dress(): void {
    const { sky, haze } = theme();
    this.scene.background = new THREE.Color(sky).lerp(new THREE.Color(haze), 0.5);
    this.scene.fog = new THREE.Fog(this.scene.background, 5 * this.size, 13 * this.size);
    this.ground?.paint();
    if (this.history.length) this.robot.build();
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
    if (!width || !height) return;
    const before = this.camera.aspect;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
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
  }

  /** Draw a row. */
  draw(row: number, seconds: number): void {
    if (!this.history.length) return;
    const began = performance.now();
    const pose = new Pose(this.history, row);
    this.robot.update(pose);
    const middle = new THREE.Vector3();
    const at = new THREE.Vector3();
    for (const group of this.robot.groups) middle.add(pose.origin(group, at));
    middle.divideScalar(Math.max(1, this.robot.groups.length));
    if ([middle.x, middle.y, middle.z].every(Number.isFinite)) this.target.copy(middle);
    this.track();
    const far = !this.laid || Math.hypot(this.target.x - this.laid.x, this.target.y - this.laid.y) > 3 * this.size;
    if (far) void this.lay(this.target.x, this.target.y);
    this.ground?.animate(seconds);
    this.sun.position.copy(this.target).add(new THREE.Vector3(-1.2, -2.2, 4.2).multiplyScalar(this.size));
    this.sun.target.position.copy(this.target);
    this.controls.update();
    this.renderer.render(this.scene, this.camera);
    this.frames++;
    this.spare(performance.now() - began);
  }

  /** The camera goes with the robot, smoothly; up and down it goes slower than along. */
  private track(): void {
    if (!this.follow || !this.shown) return;
    const far = this.shown.distanceTo(this.target) > 4 * this.size;
    const move = this.target.clone().sub(this.shown);
    if (!far) move.multiply(new THREE.Vector3(0.35, 0.35, 0.06));
    this.shown.add(move);
    this.camera.position.add(move);
    this.controls.target.add(move);
  }

  /** On a slow machine fewer pixels, then no soft shadows. */
  private spare(took: number): void {
    this.slow = took > SLOW ? this.slow + 1 : Math.max(0, this.slow - 0.1);
    if (this.slow < 8) return;
    this.slow = 0;
    if (this.ratio > 0.6) {
      this.ratio = Math.max(0.6, 0.75 * this.ratio);
      this.resize();
    } else if (this.renderer.shadowMap.type !== THREE.BasicShadowMap) {
      this.renderer.shadowMap.type = THREE.BasicShadowMap;
      this.sun.shadow.mapSize.set(512, 512);
      this.sun.shadow.map?.dispose();
      this.sun.shadow.map = null;
    }
  }
}
