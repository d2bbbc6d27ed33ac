import { expect, it } from 'vitest';
import { pickVaried } from './pick.ts';

it('a mapped task with many failures does not hide the others', () => {
  const mapped = Array.from({ length: 50 }, (_, n) => ({ task_id: 'mapped', n }));
  const picked = pickVaried([...mapped, { task_id: 'a', n: 0 }, { task_id: 'b', n: 0 }], 4);
  expect(picked).toEqual([
    { task_id: 'mapped', n: 0 },
    { task_id: 'a', n: 0 },
    { task_id: 'b', n: 0 },
    { task_id: 'mapped', n: 1 },
  ]);
});
