// SPDX-License-Identifier: Apache-2.0
// The state of the view, stored in the address after '#', so that a view can be linked to.

export class State {
  private readonly values: URLSearchParams;
  private readonly watchers = new Set<(key: string) => void>();

  constructor(hash: string) {
    this.values = new URLSearchParams(hash.replace(/^#/, ""));
  }

  get(key: string, otherwise = ""): string {
    return this.values.get(key) ?? otherwise;
  }

  number(key: string, otherwise: number): number {
    const text = this.values.get(key);
    const value = text === null || text === "" ? NaN : Number(text);
    return Number.isFinite(value) ? value : otherwise;
  }

  // An empty value removes the key: defaults are not stored in the address.
  set(key: string, value: string | number): void {
    const text = String(value);
    if ((this.values.get(key) ?? "") === text) return;
    if (text === "") this.values.delete(key);
    else this.values.set(key, text);
    this.write();
    for (const watcher of this.watchers) watcher(key);
  }

  watch(watcher: (key: string) => void): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  // The address was changed by hand; true if it differs.
  replace(hash: string): boolean {
    const next = new URLSearchParams(hash.replace(/^#/, ""));
    if (next.toString() === this.values.toString()) return false;
    for (const key of [...this.values.keys()]) this.values.delete(key);
    next.forEach((value, key) => this.values.set(key, value));
    return true;
  }

  toString(): string {
    return this.values.toString();
  }

  private pending = false;

  // Browsers limit how often the address may change per second, which playing would exceed.
  private write(): void {
    if (this.pending || typeof window === "undefined") return;
    this.pending = true;
    setTimeout(() => {
      this.pending = false;
      history.replaceState(null, "", `#${this.values.toString()}`);
    }, 150);
  }
}
