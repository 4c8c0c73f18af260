import { connect, type Socket } from "node:net";

/** A connection to whoever listens there; nothing where nobody does. */
export function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once("connect", () => {
      socket.off("error", onError);
      socket.on("error", () => {});
      resolve(socket);
    });
    const onError = (): void => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once("error", onError);
  });
}
