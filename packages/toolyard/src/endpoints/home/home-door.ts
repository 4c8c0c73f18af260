import type { Mountable } from "../../http/listening/listener.ts";
import { sendText } from "../../http/answer/send.ts";
import type { Door } from "../door.ts";
import type { HomePort } from "../home-port.ts";

/** Programs find nothing here, whatever they try. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** The page where nothing else is at its path. */
export class HomeDoor implements Door {
  readonly #home: HomePort;

  constructor(home: HomePort) {
    this.#home = home;
  }

  mount(listener: Mountable): void {
    listener.route({ methods: METHODS, path: "/" }, (exchange) => {
      if (!this.#home.wants(exchange)) return sendText(exchange.answer, 404, "Not Found");
      return this.#home.serve(exchange);
    });
  }

  giveUp(): void {}

  close(): void {}
}
