import type { Mountable } from "../../http/listener.ts";
import { Refusal } from "../../http/refusal.ts";
import type { Door } from "../door.ts";
import type { HomePort } from "../home-port.ts";

/** The page where nothing else is at its path. */
export class HomeDoor implements Door {
  readonly #home: HomePort;

  constructor(home: HomePort) {
    this.#home = home;
  }

  mount(listener: Mountable): void {
    listener.route({ methods: ["GET"], path: "/" }, (exchange) => {
      if (!this.#home.wants(exchange)) throw new Refusal(404, "Not Found");
      return this.#home.serve(exchange);
    });
  }

  giveUp(): void {}

  close(): void {}
}
