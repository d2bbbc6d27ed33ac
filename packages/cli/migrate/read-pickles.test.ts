import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { unpickle } from './read-pickles.ts';

const DUMPS = [
  '286470300a56610a70310a49310a7356620a70320a286c70330a46312e350a614e614930310a614930300a6156fc0a70340a6173566269670a70350a4c313138303539313632303731373431313330333432344c0a73566e65670a70360a492d350a73566e0a70370a493330300a7356740a70380a2849310a49320a7470390a7356650a7031300a28647031310a735673616d650a7031320a286c7031330a56780a7031340a616731340a6173566c0a7031350a286c7031360a49300a6149310a6149320a61732e',
  '7d71002858010000006171014b0158010000006271025d710328473ff80000000000004e4930310a4930300a5802000000c3bc710465580300000062696771054c313138303539313632303731373431313330333432344c0a58030000006e656771064afbffffff58010000006e71074d2c015801000000747108284b014b02747109580100000065710a7d710b580400000073616d65710c5d710d28580100000078710e680e6558010000006c710f5d7110284b004b014b0265752e',
  '80027d71002858010000006171014b0158010000006271025d710328473ff80000000000004e88895802000000c3bc710465580300000062696771058a0900000000000000004058030000006e656771064afbffffff58010000006e71074d2c0158010000007471084b014b02867109580100000065710a7d710b580400000073616d65710c5d710d28580100000078710e680e6558010000006c710f5d7110284b004b014b0265752e',
  '80037d71002858010000006171014b0158010000006271025d710328473ff80000000000004e88895802000000c3bc710465580300000062696771058a0900000000000000004058030000006e656771064afbffffff58010000006e71074d2c0158010000007471084b014b02867109580100000065710a7d710b580400000073616d65710c5d710d28580100000078710e680e6558010000006c710f5d7110284b004b014b0265752e',
  '80049576000000000000007d94288c0161944b018c0162945d9428473ff80000000000004e88898c02c3bc94658c03626967948a090000000000000000408c036e6567944afbffffff8c016e944d2c018c0174944b014b0286948c0165947d948c0473616d65945d94288c017894680e658c016c945d94284b004b014b0265752e',
  '80059576000000000000007d94288c0161944b018c0162945d9428473ff80000000000004e88898c02c3bc94658c03626967948a090000000000000000408c036e6567944afbffffff8c016e944d2c018c0174944b014b0286948c0165947d948c0473616d65945d94288c017894680e658c016c945d94284b004b014b0265752e',
];
const JSON_TEXT =
  '{"a":1,"b":[1.5,null,true,false,"ü"],"big":1180591620717411303424,"neg":-5,"n":300,"t":[1,2],"e":{},"same":["x","x"],"l":[0,1,2]}';

const pickled = (value: string): string =>
  execFileSync('python3', ['-c', `import datetime, pickle; print(pickle.dumps(${value}).hex())`], { encoding: 'utf8' });
const bytesOf = (hex: string): Buffer => Buffer.from(hex, 'hex');

describe('the conf of runs that Airflow 2 pickles', () => {
  it('keeps every value to the last digit, in each protocol of Python', async () => {
    expect(await unpickle({}, DUMPS.map(bytesOf))).toEqual(DUMPS.map(() => JSON_TEXT));
  });

  it('runs no code and creates no object, and one unreadable pickle does not affect the others', async () => {
    // cos\nsystem\n(S'true'\ntR.
    const attack = '636f730a73797374656d0a28532774727565270a74522e';
    const whole = DUMPS[4] ?? '';
    const objects = [
      "{'d': datetime.date(2024, 1, 1)}",
      "{'n': float('nan')}",
      "{'s': {1}}",
      "{'b': b'x'}",
      String.raw`{'half': '\ud800'}`,
      '{(1, 2): 3}',
    ];
    const results = await unpickle({}, [attack, ...objects.map(pickled), whole].map(bytesOf));
    expect(results).toEqual(['', ...objects.map(() => ''), JSON_TEXT]);
  });

  it('is refused when it is cut off anywhere or damaged, also if it asks for more memory than a machine has', async () => {
    const whole = bytesOf(DUMPS[4] ?? '');
    const cuts = Array.from({ length: whole.length - 1 }, (_, length) => whole.subarray(0, length));
    // The last one remembers an item at place 4,294,967,295.
    const damaged = ['652e', '752e', '732e', '68012e', '612e', '4e72ffffffff2e'].map(bytesOf);
    const results = await unpickle({}, [...cuts, ...damaged]);
    expect(new Set(results)).toEqual(new Set(['']));
    expect(results).toHaveLength(cuts.length + damaged.length);
  });

  it('that cannot be read for want of Python stops the import and says what to install', async () => {
    await expect(unpickle({ PATH: '/nowhere' }, [bytesOf('4e2e')])).rejects.toMatchObject({
      message: expect.stringContaining('needs Python') as string,
      hint: expect.stringContaining('SVC_PYTHON') as string,
    });
  });
});
