import { connect, type Socket } from "node:net";

/** Resolves with a connection to the listener, or with `undefined` if there is none. */
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
