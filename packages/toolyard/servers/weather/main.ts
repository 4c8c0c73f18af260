#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { weather } from "./service.ts";

await runService(weather);
