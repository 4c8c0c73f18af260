/**
 * Key of a service: a constant that carries the service's type. `Scope` states whether the service lives as long as the
 * hub, or as long as one address at which the hub is served.
 */
export interface ServiceKey<T = unknown, Id extends string = string, Scope extends ServiceScope = ServiceScope> {
  readonly id: Id;
  readonly scope: Scope;
  /** Type of the service, for the compiler only. */
  readonly "~type"?: T;
}

export type ServiceScope = "hub" | "serving";

/** Services by the ids of their keys. */
export type ServicesOf<K extends ServiceKey> = {
  readonly [One in K as One["id"]]: One extends ServiceKey<infer T> ? T : never;
};

/** Defines the key of a service that lives as long as the hub: `serviceKey<Logger>()("logger")`. */
export function serviceKey<T>(): <const Id extends string>(id: Id) => ServiceKey<T, Id, "hub"> {
  return (id) => Object.freeze({ id, scope: "hub" });
}

/** Defines the key of a service that exists once for each address at which the hub is served. */
export function servingKey<T>(): <const Id extends string>(id: Id) => ServiceKey<T, Id, "serving"> {
  return (id) => Object.freeze({ id, scope: "serving" });
}
