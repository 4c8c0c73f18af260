export function haproxyConfig(port: number, hubs: readonly number[]): string;
