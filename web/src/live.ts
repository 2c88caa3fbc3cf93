// SPDX-License-Identifier: Apache-2.0
// A run in progress: frames and progress stream in until it ends.
import { fromBase64, inflate } from "./blocks";
import { h } from "./dom";
import { plain, short, withUnit } from "./format";
import { framesOf } from "./netmodel";
import type { Run } from "./types";
import type { Context } from "./view";

interface FrameEvent {
  end_ps: number;
  links?: string;
  buffers?: string;
  "node-links"?: string;
  messages_per_s?: number;
  byte_per_s?: number;
}

interface ProgressEvent {
  state: "running" | "done" | "interrupted" | "failed";
  share?: number;
  text?: string;
  elapsed_s?: number;
  left_s?: number;
}

interface Listeners {
  framesChanged(): void;
  runChanged(): void;
}

const framesMost = 2000;
const bytesMost = 400e6; // of frames kept in memory

export function seconds(value: number): string {
  if (value < 60) return `${plain(value, 2)} s`;
  const minutes = Math.floor(value / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(value % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

class Live {
  private readonly bar = h("progress", { max: 1, "aria-label": "Progress" });
  private readonly text = h("span", { "data-testid": "progress" }, "Waiting for the simulation");
  private readonly rates = h("span", { className: "soft", "data-testid": "rates" });
  private ended = false;
  private asked = 0;
  // Frames are decoded one after the other, in order of arrival.
  private queue: Promise<void> = Promise.resolve();
  private readonly source: EventSource;

  constructor(
    private readonly context: Context,
    host: HTMLElement,
    private readonly listeners: Listeners,
  ) {
    host.append(
      h(
        "div",
        { className: "live", role: "group", "aria-label": "Running simulation" },
        this.bar,
        this.text,
        this.rates,
      ),
    );
    this.source = new EventSource("events");
    this.on<FrameEvent>("frame", (event) => {
      this.queue = this.queue.then(() => this.frame(event)).catch(() => undefined);
    });
    this.on<ProgressEvent>("progress", (event) => this.progress(event));
    this.on<{ run: Partial<Run> }>("record", (event) => this.record(event.run));
    this.source.onerror = () => this.broken();
  }

  private get run(): Run {
    return this.context.index.runs[0]!;
  }

  private on<T>(name: string, act: (data: T) => void): void {
    this.source.addEventListener(name, (event) =>
      act(JSON.parse((event as MessageEvent<string>).data) as T),
    );
  }

  private async frame(event: FrameEvent): Promise<void> {
    const frames = await framesOf(this.run);
    // After a reconnection the server may start again from the beginning.
    if (frames.count > 0 && event.end_ps <= frames.endPs[frames.count - 1]!) return;
    const data = new Map<string, Uint8Array>();
    let bytes = 1;
    for (const id of ["links", "buffers", "node-links"] as const) {
      const text = event[id];
      if (!text) continue;
      const values = await inflate(fromBase64(text));
      bytes += values.length;
      data.set(id, values);
    }
    frames.append(
      event.end_ps,
      data,
      Math.max(16, Math.min(framesMost, Math.floor(bytesMost / bytes))),
    );
    const rates: string[] = [];
    if (event.messages_per_s !== undefined) rates.push(`${short(event.messages_per_s)} messages/s`);
    if (event.byte_per_s !== undefined) rates.push(withUnit(event.byte_per_s, "B/s", 3));
    this.rates.textContent = rates.join(", ");
    this.ask();
  }

  // Many frames may arrive between two redraws.
  private ask(): void {
    if (this.asked) return;
    this.asked = requestAnimationFrame(() => {
      this.asked = 0;
      this.listeners.framesChanged();
    });
  }

  private progress(event: ProgressEvent): void {
    const words = {
      running: "Running",
      done: "Done",
      interrupted: "Interrupted",
      failed: "Failed",
    };
    const parts = [words[event.state]];
    if (event.text) parts.push(event.text);
    if (event.share !== undefined && event.state === "running")
      parts.push(`${Math.floor(event.share * 100)} %`);
    if (event.elapsed_s !== undefined) parts.push(`${seconds(event.elapsed_s)} so far`);
    if (event.left_s !== undefined && event.state === "running")
      parts.push(`about ${seconds(event.left_s)} left`);
    this.text.textContent = parts.join(", ");
    if (event.state === "done") this.bar.value = 1;
    else if (event.share !== undefined) this.bar.value = event.share;
    else this.bar.removeAttribute("value");
    if (event.state === "running") return;
    this.ended = true;
    this.context.announce(this.text.textContent);
  }

  private record(run: Partial<Run>): void {
    const { summary, tables, charts, remarks } = run;
    Object.assign(
      this.run,
      summary && { summary },
      tables && { tables },
      charts && { charts },
      remarks && { remarks },
    );
    this.listeners.runChanged();
  }

  // While the run goes on the browser reconnects by itself; after its end nothing can arrive.
  private broken(): void {
    if (this.ended) {
      this.source.close();
      return;
    }
    if (this.bar.hasAttribute("value") === false) this.bar.value = 0;
    this.text.textContent = "Connection lost; what came so far is kept";
    this.context.announce(this.text.textContent);
  }
}

export function startLive(context: Context, host: HTMLElement, listeners: Listeners): void {
  new Live(context, host, listeners);
}
