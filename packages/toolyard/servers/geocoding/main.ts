#!/usr/bin/env node
import { runService } from "../shared/run.ts";
import { geocoding } from "./service.ts";

await runService(geocoding);
