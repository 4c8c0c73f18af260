/** Environment variables of a process. A missing variable is `undefined`. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;
