// The ground as a slab that is cut open at its sides, or the surface of water.

import * as THREE from "three";
import { theme } from "./palette";

/** A face higher than this many times the robot is the wall of a hole: the slab has no ground there. */
const DEEP = 1;
const SAMPLES = 500;
const BISECTIONS = 24;

export type Line = [number, number][];

/** (x, z) from a height, with both ends of each upright face, for a robot of this size. In a hole z is -Infinity. */
export async function traced(
  heights: (xs: Float64Array) => Promise<Float64Array | null>,
  x0: number,
  x1: number,
  size: number,
): Promise<Line | null> {
  const xs = Float64Array.from({ length: SAMPLES + 1 }, (_, n) => x0 + ((x1 - x0) * n) / SAMPLES);
  const zs = await heights(xs);
  if (!zs) return null;
  const jumps: number[] = [];
  for (let n = 0; n < SAMPLES; n++) if (Math.abs(zs[n + 1] - zs[n]) > 0.02 * size) jumps.push(n);
  let lows = Float64Array.from(jumps, (n) => xs[n]);
  let highs = Float64Array.from(jumps, (n) => xs[n + 1]);
  for (let turn = 0; turn < BISECTIONS && jumps.length; turn++) {
    const middles = lows.map((low, n) => (low + highs[n]) / 2);
    const there = (await heights(middles))!;
    jumps.forEach((n, k) => {
      const left = Math.abs(there[k] - zs[n]) < Math.abs(there[k] - zs[n + 1]);
      if (left) lows[k] = middles[k];
      else highs[k] = middles[k];
    });
  }
  const line: Line = [];
  for (let n = 0; n <= SAMPLES; n++) {
    line.push([xs[n], zs[n]]);
    const k = jumps.indexOf(n);
    if (k >= 0) line.push([lows[k], zs[n]], [lows[k], zs[n + 1]]);
  }
  return straightened(withHoles(line, DEEP * size));
}

function withHoles(line: Line, deep: number): Line {
  const walls = line.slice(1).map(([x, z], n) => (x === line[n][0] && Math.abs(z - line[n][1]) > deep ? z - line[n][1] : 0));
  let inside = (walls.find((rise) => rise !== 0) ?? 0) > 0;
  return line.map(([x, z], n) => {
    if (n > 0 && walls[n - 1] !== 0) inside = walls[n - 1] < 0;
    return [x, inside ? -Infinity : z];
  });
}

/** Without the points that the line through their neighbours meets anyway. */
function straightened(line: Line): Line {
  const kept: Line = [];
  for (const point of line) {
    while (kept.length > 1) {
      const [[ax, az], [bx, bz]] = kept.slice(-2);
      const off = Math.abs((bx - ax) * (point[1] - az) - (bz - az) * (point[0] - ax));
      const hole = az === -Infinity && bz === -Infinity && point[1] === -Infinity;
      if (!hole && !(off <= 1e-9 * Math.max(1e-6, Math.abs(point[0] - ax)))) break;
      kept.pop();
    }
    kept.push(point);
  }
  return kept;
}

/** Points of the page, from x0 to x1; the first and last segment go on. */
export function clipped(points: Line, x0: number, x1: number): Line {
  const z = (x: number): number => {
    let n = points.findIndex(([px]) => px > x) - 1;
    if (n === -2) n = points.length - 2;
    const [[ax, az], [bx, bz]] = [points[Math.max(n, 0)], points[Math.max(n, 0) + 1]];
    return bx === ax ? az : az + ((bz - az) * (x - ax)) / (bx - ax);
  };
  return [[x0, z(x0)], ...points.filter(([x]) => x > x0 && x < x1), [x1, z(x1)]];
}

export class GroundView {
  readonly root = new THREE.Group();
  private readonly texture: THREE.CanvasTexture;
  private readonly top: THREE.MeshLambertMaterial;
  private readonly side: THREE.MeshLambertMaterial;
  private surface: THREE.Mesh | null = null;
  private line: Line = [];
  private y = 0;

  constructor(
    private readonly water: boolean,
    private readonly size: number,
    private readonly halfWidth: number,
    sharpness: number,
  ) {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 256;
    this.texture = new THREE.CanvasTexture(canvas);
    this.texture.wrapS = this.texture.wrapT = THREE.RepeatWrapping;
    this.texture.anisotropy = sharpness;
    this.texture.colorSpace = THREE.SRGBColorSpace;
    this.top = new THREE.MeshLambertMaterial({ map: this.texture });
    this.side = new THREE.MeshLambertMaterial();
    this.paint();
  }

  /** Distance of the lines on it: a round number near a third of the robot. */
  get cell(): number {
    const wanted = this.size / 2.5;
    const power = 10 ** Math.floor(Math.log10(wanted));
    return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= wanted) ?? wanted;
  }

  paint(): void {
    const { ground, grid, side, water, deep } = theme();
    const canvas = this.texture.image as HTMLCanvasElement;
    const pen = canvas.getContext("2d")!;
    pen.fillStyle = this.water ? water : ground;
    pen.fillRect(0, 0, 256, 256);
    pen.strokeStyle = this.water ? "rgba(255,255,255,0.25)" : grid;
    pen.lineWidth = this.water ? 2 : 3;
    pen.strokeRect(0, 0, 256, 256);
    pen.lineWidth = 1;
    pen.globalAlpha = 0.5;
    pen.beginPath();
    for (const n of [64, 128, 192]) {
      pen.moveTo(n, 0), pen.lineTo(n, 256);
      pen.moveTo(0, n), pen.lineTo(256, n);
    }
    if (!this.water) pen.stroke();
    pen.globalAlpha = 1;
    this.texture.needsUpdate = true;
    this.side.color.set(this.water ? deep : side);
    this.top.transparent = this.water;
    this.top.opacity = this.water ? 0.72 : 1;
    this.side.transparent = this.water;
    this.side.opacity = this.water ? 0.55 : 1;
  }

  /** Lay it along a line, with its middle at y. */
  lay(line: Line, y: number): void {
    [this.line, this.y] = [line, Math.round(y / this.cell) * this.cell];
    this.root.clear();
    this.surface = new THREE.Mesh(this.strip(), this.top);
    this.surface.receiveShadow = true;
    this.root.add(this.surface);
    this.root.add(new THREE.Mesh(this.walls(), this.side));
  }

  /** Ripples run over water. */
  animate(seconds: number): void {
    if (this.water) this.texture.offset.set(0.06 * Math.sin(0.7 * seconds), 0.05 * Math.sin(0.9 * seconds + 1));
  }

  private get bottom(): number {
    return Math.min(...this.line.map(([, z]) => z).filter(Number.isFinite)) - 0.35 * this.size;
  }

  private strip(): THREE.BufferGeometry {
    const [places, ways, marks, turns]: number[][] = [[], [], [], []];
    const [low, high] = [this.y - this.halfWidth, this.y + this.halfWidth];
    const floor = this.bottom;
    for (let n = 0; n + 1 < this.line.length; n++) {
      const [[ax, az], [bx, bz]] = this.line.slice(n, n + 2).map(([x, z]) => [x, Math.max(z, floor)]);
      if (az === floor && bz === floor) continue;
      const first = places.length / 3;
      places.push(ax, low, az, bx, low, bz, bx, high, bz, ax, high, az);
      const length = Math.hypot(bx - ax, bz - az) || 1;
      const [nx, nz] = [-(bz - az) / length, (bx - ax) / length];
      for (let k = 0; k < 4; k++) ways.push(nx, 0, nz);
      const upright = bx === ax;
      const at = (x: number, z: number): number => (upright ? z : x) / this.cell;
      for (const [x, z, y] of [[ax, az, low], [bx, bz, low], [bx, bz, high], [ax, az, high]]) marks.push(at(x, z), y / this.cell);
      turns.push(first, first + 1, first + 2, first, first + 2, first + 3);
    }
    const made = new THREE.BufferGeometry();
    made.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
    made.setAttribute("normal", new THREE.Float32BufferAttribute(ways, 3));
    made.setAttribute("uv", new THREE.Float32BufferAttribute(marks, 2));
    made.setIndex(turns);
    return made;
  }

  /** The sides at which the slab is cut. */
  private walls(): THREE.BufferGeometry {
    const [places, ways, turns]: number[][] = [[], [], []];
    const floor = this.bottom;
    for (const [y, way] of [[this.y - this.halfWidth, -1], [this.y + this.halfWidth, 1]]) {
      for (let n = 0; n + 1 < this.line.length; n++) {
        const [[ax, az], [bx, bz]] = [this.line[n], this.line[n + 1]];
        if (ax === bx || !Number.isFinite(az + bz)) continue;
        const first = places.length / 3;
        places.push(ax, y, floor, bx, y, floor, bx, y, bz, ax, y, az);
        for (let k = 0; k < 4; k++) ways.push(0, way, 0);
        const quad = [0, 1, 2, 0, 2, 3].map((k) => first + k);
        turns.push(...(way < 0 ? quad : quad.reverse()));
      }
    }
    const made = new THREE.BufferGeometry();
    made.setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
    made.setAttribute("normal", new THREE.Float32BufferAttribute(ways, 3));
    made.setIndex(turns);
    return made;
  }
}
