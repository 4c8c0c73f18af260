import type { Socket } from "node:net";

/**
 * Members of the handle below a socket. They are not public, but a write that the system takes in parts is seen nowhere
 * else: the stream counts it when it begins and reports it when it is whole.
 */
interface Handle {
  readonly bytesWritten?: number;
  readonly writeQueueSize?: number;
  /** Of a handle that encrypts: the one of the connection. */
  readonly _parent?: Handle | null;
}

/** Returns how many bytes of a connection the system has taken, over TLS as they are sent. */
export function sentBytes(socket: Socket): number {
  const own = (socket as { readonly _handle?: Handle | null })._handle;
  const { bytesWritten = 0, writeQueueSize = 0 } = own?._parent ?? own ?? {};
  return bytesWritten - writeQueueSize;
}

/** Closes the connection of a client that takes nothing of its answer for a time. One that reads slowly goes on. */
export class ReaderWatch {
  #timer: NodeJS.Timeout | undefined;

  start(socket: Socket, stallMs: number): void {
    const before = sentBytes(socket);
    this.#timer = setTimeout(() => {
      if (sentBytes(socket) === before) socket.destroy();
      else this.start(socket, stallMs);
    }, stallMs);
    this.#timer.unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
