import type { HttpExchange } from "../http/exchange.ts";

/** The page at the hub's own address. It shares its path with doors that answer programs there. */
export interface HomePort {
  /** Whether this request is somebody's browser that opens the address. */
  wants(exchange: HttpExchange): boolean;
  serve(exchange: HttpExchange): Promise<void>;
}
