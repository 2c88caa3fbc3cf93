// SPDX-License-Identifier: Apache-2.0
// A slider over moments, with play, pause, speed and keys.
import { button, h, select } from "./dom";
import { time } from "./format";
import { frameAt } from "./heat";

const speeds = [1, 2, 5, 10, 20, 50];

export class Player {
  readonly element: HTMLElement;
  private readonly slider = h("input", {
    type: "range",
    min: "0",
    step: "1",
    "data-testid": "slider",
    "aria-label": "Moment shown",
  });
  private readonly playButton: HTMLButtonElement;
  private readonly text = h("output", {
    className: "moment",
    "data-testid": "moment",
    "aria-live": "polite",
  });
  private times: number[] = [];
  private at = 0;
  private perSecond = 5;
  private timer = 0;

  constructor(private readonly moved: (ps: number, playing: boolean) => void) {
    this.playButton = button("Play", "play", () => this.toggle());
    this.slider.addEventListener("input", () => this.step(Number(this.slider.value)));
    const speed = select(
      "Frames/s",
      "speed",
      speeds.map((s) => ({ value: String(s), text: String(s) })),
      "5",
      (value) => this.setSpeed(Number(value)),
    );
    this.element = h(
      "div",
      { className: "player", role: "group", "aria-label": "Time" },
      this.playButton,
      this.slider,
      this.text,
      speed,
    );
    document.addEventListener("keydown", this.onKey);
  }

  get ps(): number {
    return this.times[this.at] ?? 0;
  }

  get index(): number {
    return this.at;
  }

  get count(): number {
    return this.times.length;
  }

  // Live: stays at the end if it was there.
  setTimes(times: number[], ps: number | undefined): void {
    const follow = this.times.length > 0 && this.at === this.times.length - 1;
    this.times = times;
    this.at = ps === undefined || follow ? Math.max(0, times.length - 1) : frameAt(times, ps);
    this.slider.max = String(Math.max(0, times.length - 1));
    this.show();
  }

  goTo(ps: number): void {
    this.step(frameAt(this.times, ps));
  }

  enable(on: boolean): void {
    if (!on) this.pause();
    this.slider.disabled = !on;
    this.playButton.disabled = !on;
  }

  destroy(): void {
    this.pause();
    document.removeEventListener("keydown", this.onKey);
  }

  private show(): void {
    this.slider.value = String(this.at);
    const text =
      this.times.length > 0
        ? `${time(this.ps)} (frame ${this.at + 1} of ${this.times.length})`
        : "no frame yet";
    this.slider.setAttribute("aria-valuetext", text);
    this.text.textContent = text;
  }

  private step(to: number): void {
    this.at = Math.min(Math.max(to, 0), Math.max(0, this.times.length - 1));
    this.show();
    this.moved(this.ps, this.timer !== 0);
  }

  private setSpeed(perSecond: number): void {
    this.perSecond = perSecond;
    if (this.timer !== 0) {
      this.pause();
      this.play();
    }
  }

  private toggle(): void {
    if (this.timer !== 0) this.pause();
    else this.play();
  }

  private play(): void {
    if (this.times.length < 2) return;
    if (this.at === this.times.length - 1) this.step(0);
    this.playButton.textContent = "Pause";
    this.text.setAttribute("aria-live", "off");
    this.timer = window.setInterval(() => {
      if (this.at >= this.times.length - 1) this.pause();
      else this.step(this.at + 1);
    }, 1000 / this.perSecond);
  }

  private pause(): void {
    if (this.timer === 0) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.playButton.textContent = "Play";
    this.text.setAttribute("aria-live", "polite");
    this.moved(this.ps, false);
  }

  private readonly onKey = (event: KeyboardEvent): void => {
    const target = event.target as HTMLElement;
    const own = target === this.slider;
    if (event.ctrlKey || event.metaKey || event.altKey || this.slider.disabled) return;
    if (
      !own &&
      /^(INPUT|SELECT|TEXTAREA|BUTTON|A|SUMMARY)$/.test(target.tagName) &&
      event.key === " "
    )
      return;
    if (!own && /^(INPUT|SELECT|TEXTAREA|CANVAS)$/.test(target.tagName) && event.key !== " ")
      return;
    if (!own && target.getAttribute("role") === "tab") return;
    const actions: Record<string, () => void> = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.step(this.at - 1),
      ArrowRight: () => this.step(this.at + 1),
      Home: () => this.step(0),
      End: () => this.step(this.times.length - 1),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
}
