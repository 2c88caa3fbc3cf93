// SPDX-License-Identifier: Apache-2.0
// A three-dimensional cube as points in space; colours are looked up on the graphics card, so a new
// frame is one byte per router. Cold routers are small, so that the hot ones inside are seen.
import * as three from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { pageColour, parseColour } from "./colour";
import type { Ramp } from "./colour";
import { coordinates, dimensionName } from "./cube";
import { h, pen } from "./dom";
import { onWidth, Teller } from "./drawing";
import type { Drawing, DrawingOptions, Shade } from "./drawing";

const linksDrawnMost = 20_000;

const pointVertex = `
attribute float value;
uniform float size; uniform float least; uniform float height;
varying float shade;
void main() {
  shade = value;
  vec4 at = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * at;
  float grow = value > 255.5 ? 0.5 : 0.25 + 0.75 * value / 255.0;
  gl_PointSize = value < least ? 0.0 : max(1.5, size * grow * height / -at.z);
}`;
const pointFragment = `
uniform sampler2D ramp; varying float shade;
void main() {
  vec2 c = gl_PointCoord - 0.5;
  if (dot(c, c) > 0.25) discard;
  gl_FragColor = texture2D(ramp, vec2((shade + 0.5) / 257.0, 0.5));
}`;
const lineVertex = `
attribute float value; varying float shade;
void main() {
  shade = value;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const lineFragment = `
uniform sampler2D ramp; uniform float least; varying float shade;
void main() {
  if (shade < least) discard;
  vec4 c = texture2D(ramp, vec2((shade + 0.5) / 257.0, 0.5));
  gl_FragColor = vec4(c.rgb, 0.25 + 0.75 * min(shade, 255.0) / 255.0);
}`;

let webgl: boolean | undefined;

export function webglWorks(): boolean {
  if (webgl !== undefined) return webgl;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return (webgl = context !== null);
}

// Letters beside three edges that nothing covers in the first view.
function makeAxisNames(radix: readonly number[]): three.Sprite[] {
  const [x, y, z] = radix.map((size) => size / 2) as [number, number, number];
  const size = Math.max(...radix) * 0.07;
  const away = size * 0.8;
  const places = [
    [0, -y - away, z + away],
    [-x - away, 0, z + away],
    [x + away, -y - away, 0],
  ];
  return places.map((at, d) => {
    const canvas = h("canvas", { width: 64, height: 64 });
    const p = pen(canvas);
    p.font = "44px system-ui, sans-serif";
    p.textAlign = "center";
    p.fillStyle = "#808890";
    p.fillText(dimensionName(d), 32, 46);
    const map = new three.CanvasTexture(canvas);
    const sprite = new three.Sprite(
      new three.SpriteMaterial({ map, depthTest: false, transparent: true }),
    );
    sprite.position.fromArray(at);
    sprite.scale.setScalar(size);
    return sprite;
  });
}

export class SolidDrawing implements Drawing {
  readonly element = h("div", { className: "drawing" });
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private readonly camera: three.PerspectiveCamera;
  private readonly controls: OrbitControls;
  private readonly points: three.Points;
  private readonly lines: three.LineSegments | undefined;
  private readonly marker: three.LineSegments;
  private readonly texture: three.DataTexture;
  private readonly observer: ResizeObserver;
  private readonly teller: Teller;
  private readonly where: Float32Array;
  private readonly uniforms: Record<string, three.IUniform>;
  private ramp: Ramp | undefined;
  private asked = 0;

  constructor(private readonly options: DrawingOptions) {
    const radix = options.model.net.radix!;
    const extent = Math.max(...radix);
    this.teller = new Teller(options);
    this.where = this.positions(radix);
    this.texture = new three.DataTexture(new Uint8Array(257 * 4), 257, 1, three.RGBAFormat);
    this.uniforms = {
      ramp: { value: this.texture },
      size: { value: 0.85 },
      least: { value: 0 },
      height: { value: 1 },
    };
    this.renderer = new three.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.outputColorSpace = three.LinearSRGBColorSpace;
    this.camera = new three.PerspectiveCamera(40, 1, 0.1, extent * 20);
    this.camera.position.set(0.5, 0.42, 0.75).setLength(Math.hypot(...radix) * 1.42);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.ask());
    this.points = this.makePoints();
    this.lines =
      options.model.links.from.length <= linksDrawnMost ? this.makeLines(radix) : undefined;
    this.marker = this.makeMarker();
    this.scene.add(this.points, this.makeFrame(radix), this.marker, ...makeAxisNames(radix));
    if (this.lines) this.scene.add(this.lines);
    this.element.append(this.renderer.domElement);
    this.bind();
    this.observer = onWidth(this.element, (width) => this.resize(width));
  }

  // Hides routers and links below this value, 0..255.
  setLeast(least: number): void {
    this.uniforms["least"]!.value = least;
    this.ask();
  }

  draw(shade: Shade): void {
    if (this.ramp !== shade.ramp) {
      this.ramp = shade.ramp;
      (this.texture.image.data as Uint8Array).set(shade.ramp.bytes);
      this.texture.needsUpdate = true;
    }
    const values = this.points.geometry.getAttribute("value") as three.BufferAttribute;
    (values.array as Float32Array).set(shade.router);
    values.needsUpdate = true;
    if (this.lines) this.fillLines(shade);
    this.ask();
  }

  mark(routers: readonly number[]): void {
    const router = routers[0];
    this.marker.visible = router !== undefined;
    if (router !== undefined) this.marker.position.fromArray(this.where, router * 3);
    this.ask();
  }

  destroy(): void {
    cancelAnimationFrame(this.asked);
    this.observer.disconnect();
    this.controls.dispose();
    this.points.geometry.dispose();
    this.lines?.geometry.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.teller.at(undefined, 0, 0);
  }

  private positions(radix: readonly number[]): Float32Array {
    const count = this.options.model.net.routers;
    const where = new Float32Array(count * 3);
    for (let r = 0; r < count; ++r) {
      coordinates(r, radix).forEach((v, d) => (where[r * 3 + d] = v - (radix[d]! - 1) / 2));
    }
    return where;
  }

  private material(vertex: string, fragment: string, transparent: boolean): three.ShaderMaterial {
    return new three.ShaderMaterial({
      uniforms: this.uniforms,
      vertexShader: vertex,
      fragmentShader: fragment,
      transparent,
      depthWrite: !transparent,
    });
  }

  private makePoints(): three.Points {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(this.where, 3));
    const values = new Float32Array(this.where.length / 3);
    geometry.setAttribute("value", new three.BufferAttribute(values, 1));
    return new three.Points(geometry, this.material(pointVertex, pointFragment, false));
  }

  // A wraparound link is drawn as two stubs, as it would cross the whole cube.
  private makeLines(radix: readonly number[]): three.LineSegments {
    const { from, to, direction } = this.options.model.links;
    const ends = new Float32Array(from.length * 6);
    for (let i = 0; i < from.length; ++i) {
      for (let d = 0; d < 3; ++d) {
        const a = this.where[from[i]! * 3 + d]!;
        let b = this.where[to[i]! * 3 + d]!;
        const along = direction ? direction[i]! >> 1 === d : a !== b;
        if (along && Math.abs(b - a) > 1.5 && radix[d]! > 2) b = a + (b < a ? 0.5 : -0.5);
        // The two directions of a cable are drawn side by side.
        const aside = along ? 0 : a < b ? 0 : (direction?.[i] ?? 0) & 1 ? 0.06 : -0.06;
        ends[i * 6 + d] = a + aside;
        ends[i * 6 + 3 + d] = b + aside;
      }
    }
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(ends, 3));
    geometry.setAttribute("value", new three.BufferAttribute(new Float32Array(from.length * 2), 1));
    return new three.LineSegments(geometry, this.material(lineVertex, lineFragment, true));
  }

  private fillLines(shade: Shade): void {
    const values = this.lines!.geometry.getAttribute("value") as three.BufferAttribute;
    const array = values.array as Float32Array;
    this.lines!.visible = shade.link !== undefined;
    if (!shade.link) return;
    for (let i = 0; i < shade.link.length; ++i) array[2 * i] = array[2 * i + 1] = shade.link[i]!;
    values.needsUpdate = true;
  }

  private makeFrame(radix: readonly number[]): three.LineSegments {
    const box = new three.BoxGeometry(radix[0]!, radix[1]!, radix[2]!);
    const material = new three.LineBasicMaterial({
      color: 0x808890,
      transparent: true,
      opacity: 0.6,
    });
    return new three.LineSegments(new three.EdgesGeometry(box), material);
  }

  private makeMarker(): three.LineSegments {
    const box = new three.EdgesGeometry(new three.BoxGeometry(1, 1, 1));
    const [r, g, b] = parseColour(pageColour("mark"));
    const marker = new three.LineSegments(
      box,
      new three.LineBasicMaterial({
        color: new three.Color(r / 255, g / 255, b / 255),
        depthTest: false,
      }),
    );
    marker.visible = false;
    return marker;
  }

  private resize(width: number): void {
    const height = Math.min(this.options.height, Math.max(300, width));
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.uniforms["height"]!.value = height * this.renderer.getPixelRatio() * 1.37;
    this.ask();
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      const [r, g, b] = parseColour(pageColour("panel"));
      this.renderer.setClearColor(new three.Color(r / 255, g / 255, b / 255));
      this.renderer.render(this.scene, this.camera);
    });
  }

  // The nearest router in front of the pointer; the camera's ray must pass within its ball.
  private pickAt(event: PointerEvent): number {
    const box = this.renderer.domElement.getBoundingClientRect();
    const at = new three.Vector2(
      ((event.clientX - box.left) / box.width) * 2 - 1,
      1 - ((event.clientY - box.top) / box.height) * 2,
    );
    const caster = new three.Raycaster();
    caster.setFromCamera(at, this.camera);
    const { origin, direction } = caster.ray;
    const values = this.points.geometry.getAttribute("value").array;
    const least = this.uniforms["least"]!.value as number;
    const vector = new three.Vector3();
    let best = -1;
    let nearest = Infinity;
    for (let r = 0; r < values.length; ++r) {
      if (values[r]! < least) continue;
      vector.fromArray(this.where, r * 3).sub(origin);
      const along = vector.dot(direction);
      if (along <= 0 || along >= nearest) continue;
      const away = vector.lengthSq() - along * along;
      const radius = 0.42 * (0.25 + (0.75 * Math.min(values[r]!, 255)) / 255) + 0.06;
      if (away > radius * radius) continue;
      nearest = along;
      best = r;
    }
    return best;
  }

  private bind(): void {
    const canvas = this.renderer.domElement;
    canvas.tabIndex = 0;
    canvas.dataset["testid"] = "solid";
    canvas.setAttribute("role", "img");
    canvas.setAttribute(
      "aria-label",
      `${this.options.label}; arrow keys turn it, plus and minus zoom`,
    );
    let press = { x: 0, y: 0 };
    canvas.addEventListener(
      "pointerdown",
      (event) => (press = { x: event.clientX, y: event.clientY }),
    );
    const hover = (event: PointerEvent) => {
      const router = this.pickAt(event);
      this.teller.at(router >= 0 ? { router } : undefined, event.clientX, event.clientY);
      return router;
    };
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons === 0) hover(event);
    });
    canvas.addEventListener("pointerleave", () => this.teller.at(undefined, 0, 0));
    canvas.addEventListener("pointerup", (event) => {
      if (Math.hypot(event.clientX - press.x, event.clientY - press.y) > 4) return;
      const router = hover(event);
      if (router >= 0) this.options.choose?.({ router });
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const turn = new three.Spherical().setFromVector3(
      this.camera.position.clone().sub(this.controls.target),
    );
    const actions: Record<string, () => void> = {
      ArrowLeft: () => (turn.theta -= 0.12),
      ArrowRight: () => (turn.theta += 0.12),
      ArrowUp: () => (turn.phi -= 0.12),
      ArrowDown: () => (turn.phi += 0.12),
      "+": () => (turn.radius /= 1.15),
      "=": () => (turn.radius /= 1.15),
      "-": () => (turn.radius *= 1.15),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
    turn.makeSafe();
    this.camera.position.setFromSpherical(turn).add(this.controls.target);
    this.camera.lookAt(this.controls.target);
    this.controls.update();
    this.ask();
  }
}
