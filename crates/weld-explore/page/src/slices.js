// Long work in slices of a few milliseconds, so that the page answers meanwhile.

const SLICE_MS = 8;

export class Slices {
  /** `stopped()` says whether the work is wanted no more. */
  constructor(stopped = () => false) {
    this.stopped = stopped;
    this.since = performance.now();
  }

  /** Lets others run if the slice is over; true if the work shall end. */
  async rest() {
    if (performance.now() - this.since < SLICE_MS) return false;
    await new Promise(next => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        next();
      };
      channel.port2.postMessage(0);
    });
    this.since = performance.now();
    return this.stopped();
  }
}
