/** Prices of the configuration. */
import type { Config } from '../../config/keys.ts';
import type { UsagePrices } from '../../db/work/read-usage.ts';

/** `isSet`: false when no price is configured. Amounts of money are then null. */
export function pricesOf({ cost }: Pick<Config, 'cost'>): UsagePrices & { isSet: boolean; currency: string } {
  const [cpuHour, gibHour] = [Number(cost.cpuHour), Number(cost.gibHour)];
  const names = [...new Set([...Object.keys(cost.queueCpuHour), ...Object.keys(cost.queueGibHour)])];
  return {
    cpuHour,
    gibHour,
    queues: names.map((queue) => ({
      queue,
      cpuHour: Number(cost.queueCpuHour[queue] ?? cpuHour),
      gibHour: Number(cost.queueGibHour[queue] ?? gibHour),
    })),
    isSet: cost.cpuHour !== '' || cost.gibHour !== '' || names.length > 0,
    currency: cost.currency,
  };
}

/** The price of one try. */
export function costOf(prices: UsagePrices, used: { queue: string; cpu: number; gib: number }): number {
  const own = prices.queues.find(({ queue }) => queue === used.queue) ?? prices;
  return (used.cpu * own.cpuHour + used.gib * own.gibHour) / 3_600;
}
