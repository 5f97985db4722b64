/**
 * The stretch of time that is on the screen, shared by the timeline and the workers'
 * view. Times are seconds from the start of the run.
 */

export class TimeRange {
  readonly end_secs: number;
  private from_secs = 0;
  private to_secs: number;
  private readonly listeners: (() => void)[] = [];

  /** A run of no length still gets an axis to stand on. */
  constructor(readonly length_secs: number) {
    this.end_secs = length_secs > 0 ? length_secs : 1;
    this.to_secs = this.end_secs;
  }

  get from(): number {
    return this.from_secs;
  }

  get to(): number {
    return this.to_secs;
  }

  get isWhole(): boolean {
    return this.from_secs === 0 && this.to_secs === this.end_secs;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  set(from: number, to: number): void {
    const shortest = this.end_secs * 1e-5;
    const length = Math.min(Math.max(to - from, shortest), this.end_secs);
    const start = Math.min(Math.max(from, 0), this.end_secs - length);
    const end = length === this.end_secs ? this.end_secs : start + length;
    if (start === this.from_secs && end === this.to_secs) return;
    this.from_secs = start;
    this.to_secs = end;
    for (const listener of this.listeners) listener();
  }

  reset(): void {
    this.set(0, this.end_secs);
  }

  /** Less than 1 shows less time, around the middle. */
  zoom(factor: number): void {
    const middle = (this.from_secs + this.to_secs) / 2;
    const half = ((this.to_secs - this.from_secs) * factor) / 2;
    this.set(middle - half, middle + half);
  }

  /** By a share of what is shown. */
  pan(by: number): void {
    const step = (this.to_secs - this.from_secs) * by;
    this.set(this.from_secs + step, this.to_secs + step);
  }
}
