// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Vinci authors
#include "isa/numeric/log.h"

#include <array>

#include "isa/numeric/odd.h"

namespace vinci::isa {
namespace {

// ln x = k * ln2 - ln(i) + ln(1 + r), where x = 2^k * m, i is close to 1 / m, and r = m * i - 1 is exact: i has 9 bits.
constexpr int kSteps = 128;       // of m from 1 to 2
constexpr int kFirstHalved = 53;  // from here m is halved, so that it lies between 0.7 and 1.42
constexpr double kInverseUnit = 0x1p-9;

// -ln(inverse) as high + low, from MPFR; the high parts, and that of ln2, are multiples of 2^-42, so that their sums
// are exact.
struct Step {
  double inverse;  // in units of 2^-9
  double high, low;
};
constexpr std::array<Step, kSteps> kTable{{
    {512, 0, 0},
    {506, 0x1.82448a388p-7, 0x1.4554412c584ep-44},
    {502, 0x1.432a92598p-6, 0x1.98139928637fep-47},
    {498, 0x1.c63d2ec15p-6, -0x1.5439ce030a687p-44},
    {495, 0x1.149e3e4008p-5, -0x1.2b98a9a4168fdp-44},
    {491, 0x1.5715c4c04p-5, -0x1.8888ddfc47628p-44},
    {487, 0x1.9a187b574p-5, -0x1.0c22e4ec4d90dp-44},
    {484, 0x1.ccb73cddd8p-5, 0x1.965c36e09f5fep-44},
    {480, 0x1.08598b59e4p-4, -0x1.7e5dd7009902cp-46},
    {477, 0x1.2207b5c784p-4, 0x1.49d8cfc10c7bfp-44},
    {473, 0x1.4485e03dbcp-4, 0x1.fad46e8d26ab7p-44},
    {470, 0x1.5e95a4d978p-4, 0x1.1cb7ce1d17171p-44},
    {466, 0x1.8197e2f41p-4, -0x1.c0fe460d20041p-44},
    {463, 0x1.9c0c32d4d4p-4, -0x1.ab7c09e838668p-44},
    {460, 0x1.b6ac88dad4p-4, 0x1.b1bdff50225c7p-44},
    {457, 0x1.d179788218p-4, 0x1.36433b5efbeedp-44},
    {454, 0x1.ec739830ap-4, 0x1.11fcba80cdd1p-44},
    {450, 0x1.08598b59e4p-3, -0x1.7e5dd7009902cp-45},
    {447, 0x1.160c8024b2p-3, 0x1.ec2d2a9009e3dp-45},
    {444, 0x1.23d712a49cp-3, 0x1.00d238fd3df5cp-46},
    {441, 0x1.31b994d3a4p-3, 0x1.f098ee3a5081p-44},
    {438, 0x1.3fb45a5992p-3, 0x1.19713c0cae559p-44},
    {435, 0x1.4dc7b897bcp-3, 0x1.c79b60ae1ff0fp-47},
    {433, 0x1.5737cc9018p-3, 0x1.9baa7a6b887f6p-44},
    {430, 0x1.6574ebe8c2p-3, -0x1.98c1d34f0f462p-44},
    {427, 0x1.73cb9074fep-3, -0x1.d66a90d0005a6p-44},
    {424, 0x1.823c16551ap-3, 0x1.e0ddb9a631e83p-46},
    {421, 0x1.90c6db9fccp-3, -0x1.935f57718d7cap-46},
    {419, 0x1.9a8778debap-3, 0x1.470fa3efec39p-44},
    {416, 0x1.a93ed3c8aep-3, -0x1.8724350562169p-45},
    {413, 0x1.b811730b82p-3, 0x1.e90683b9cd768p-46},
    {411, 0x1.c2028ab18p-3, -0x1.92e0ee55c7ac6p-45},
    {408, 0x1.d1037f2656p-3, -0x1.84a7e75b6f6e4p-47},
    {406, 0x1.db13db0d48p-3, 0x1.2806a847527e6p-44},
    {403, 0x1.ea4449f04ap-3, 0x1.5e91663732a36p-44},
    {401, 0x1.f474b134ep-3, -0x1.bae49f1df7b5ep-44},
    {398, 0x1.01eae5626cp-2, 0x1.a43dcfade85aep-44},
    {396, 0x1.07138604d6p-2, -0x1.e76324e912b17p-44},
    {394, 0x1.0c42d67616p-2, 0x1.7188b163ceae9p-45},
    {391, 0x1.14167ef367p-2, 0x1.e0c07824daaf5p-44},
    {389, 0x1.1956d3b9bcp-2, 0x1.7d2f73ad1aa14p-45},
    {387, 0x1.1e9e16788ap-2, -0x1.82eaed3c8b65ep-44},
    {384, 0x1.269621134ep-2, -0x1.1b61f10522625p-44},
    {382, 0x1.2bef07cdc9p-2, 0x1.a9cfa4a5004f4p-45},
    {380, 0x1.314f1e1d36p-2, -0x1.8e27ad3213cb8p-45},
    {378, 0x1.36b6776be1p-2, 0x1.16ecdb0f177c8p-46},
    {376, 0x1.3c25277333p-2, 0x1.83b54b606bd5cp-46},
    {373, 0x1.44591e053ap-2, -0x1.6e95892923d88p-47},
    {371, 0x1.49da7f3bccp-2, 0x1.07b334daf4b9ap-44},
    {369, 0x1.4f637ebbaap-2, -0x1.fc158cb3124b9p-44},
    {367, 0x1.54f431b7bep-2, 0x1.a8954c0910952p-46},
    {365, 0x1.5a8cadbbeep-2, -0x1.7c79b0af7ecf8p-48},
    {363, 0x1.602d08af09p-2, 0x1.ebe9176df3f65p-46},
    {722, -0x1.5ff3070a79p-2, -0x1.e9e439f105039p-45},
    {718, -0x1.5a42ab0f4dp-2, 0x1.e63af2df7ba69p-50},
    {714, -0x1.548a2c3addp-2, -0x1.3167e63081cf7p-45},
    {710, -0x1.4ec97326p-2, -0x1.34d7aaf04d104p-45},
    {707, -0x1.4a7373cedp-2, 0x1.9a234ebf35449p-44},
    {703, -0x1.44a41b463cp-2, -0x1.1ee28f37cf612p-44},
    {699, -0x1.3ecc460ef6p-2, 0x1.6028627c1300fp-47},
    {695, -0x1.38ebdb38edp-2, -0x1.90582e67d4cap-45},
    {692, -0x1.347dd9a988p-2, 0x1.5594dd4c58092p-45},
    {688, -0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45},
    {684, -0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44},
    {681, -0x1.241558bfd1p-2, -0x1.00fff3228fcadp-44},
    {677, -0x1.1e0d0c3371p-2, -0x1.af8f2a9b0d4ap-44},
    {674, -0x1.1980d2dd42p-2, -0x1.b7b3a7a361c9ap-45},
    {670, -0x1.136870293bp-2, 0x1.d3e8499d67123p-44},
    {667, -0x1.0ed005f658p-2, 0x1.2dc75285aa803p-45},
    {664, -0x1.0a324e2739p-2, -0x1.c6bee7ef4030ep-47},
    {660, -0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48},
    {657, -0x1.feb0233e6p-3, -0x1.f316e32d5e8c7p-45},
    {654, -0x1.f550a564b8p-3, 0x1.323e3a09202fep-45},
    {650, -0x1.e8c0252aa6p-3, 0x1.6805b80e8e6ffp-45},
    {647, -0x1.df46c0c722p-3, -0x1.a5e82b0b79039p-44},
    {644, -0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45},
    {641, -0x1.cc320c0176p-3, -0x1.409039a653794p-45},
    {638, -0x1.c2968558c2p-3, 0x1.cfd73dee38a4p-45},
    {635, -0x1.b8ef67042p-3, -0x1.87533321788ep-44},
    {632, -0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52},
    {629, -0x1.a57df28244p-3, -0x1.b99c8ca1d9abbp-44},
    {626, -0x1.9bb362e7ep-3, 0x1.1f2a8a1ce0ffcp-45},
    {623, -0x1.91dcc8c34p-3, -0x1.7bc6abddeff46p-44},
    {620, -0x1.87fa06520cp-3, -0x1.22120401202fcp-44},
    {617, -0x1.7e0afd630cp-3, -0x1.39e7c1d8f1034p-46},
    {614, -0x1.740f8f5404p-3, 0x1.0b66c99018aa1p-44},
    {611, -0x1.6a079d0f7ap-3, -0x1.5a3f8448d14f5p-44},
    {608, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44},
    {605, -0x1.55d1ad4232p-3, -0x1.add94dda647e8p-44},
    {603, -0x1.4f099f4a24p-3, 0x1.e9bf2fafeaf27p-44},
    {600, -0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46},
    {597, -0x1.3a8eb2d31ap-3, -0x1.bafb77d5d503ep-46},
    {594, -0x1.303d718e48p-3, 0x1.680b5ce3ecb05p-50},
    {592, -0x1.29552f82p-3, 0x1.5b967f4471dfcp-44},
    {589, -0x1.1eed90e2dcp-3, -0x1.615637097648fp-46},
    {586, -0x1.1478584674p-3, -0x1.563451027c75p-46},
    {584, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44},
    {581, -0x1.02ebb42bf4p-3, 0x1.5a8fa5ce00e5dp-46},
    {579, -0x1.f7b79fec38p-4, 0x1.10987e897ed01p-47},
    {576, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45},
    {574, -0x1.d4313d66ccp-4, 0x1.9454379135713p-45},
    {571, -0x1.beba818148p-4, 0x1.89b78b6df1f57p-44},
    {569, -0x1.b05b49bee4p-4, -0x1.ff22c18f84a5ep-47},
    {566, -0x1.9ab4246204p-4, 0x1.8a64826787061p-45},
    {564, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44},
    {561, -0x1.765bf23a6cp-4, 0x1.ecbc035c4256ap-48},
    {559, -0x1.67bb0726ecp-4, -0x1.f724b69ef5912p-49},
    {557, -0x1.590cafdfp-4, -0x1.c284f5722abaap-44},
    {554, -0x1.42edcbea64p-4, -0x1.bc0eeea7c9acdp-46},
    {552, -0x1.341d7961bcp-4, -0x1.1d0929983761p-44},
    {550, -0x1.253f62f0ap-4, -0x1.416f8fb69a701p-44},
    {547, -0x1.0ed839b554p-4, 0x1.901f46d48abb4p-44},
    {545, -0x1.ffae9119b8p-5, -0x1.303374262c554p-45},
    {543, -0x1.e19070c278p-5, 0x1.fea4664629e86p-45},
    {541, -0x1.c355dd092p-5, -0x1.f2ccc9abf8388p-45},
    {538, -0x1.95c830ec9p-5, 0x1.c148297c5feb8p-45},
    {536, -0x1.77458f633p-5, 0x1.181dce586af09p-44},
    {534, -0x1.58a5bafc9p-5, 0x1.b2b739570ad39p-45},
    {532, -0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44},
    {530, -0x1.1b0d98924p-5, 0x1.3401e9ae889bbp-44},
    {527, -0x1.d91a66c54p-6, -0x1.e61f1658cfb9ap-45},
    {525, -0x1.9ace7551dp-6, 0x1.d75d97ec7c41p-45},
    {523, -0x1.5c45a51b9p-6, 0x1.63bb6216d87d8p-45},
    {521, -0x1.1d7f7eb9fp-6, 0x1.4193a83fcc7a6p-46},
    {519, -0x1.bcf712c74p-7, -0x1.c25e097bd9771p-46},
    {517, -0x1.3e7295d26p-7, 0x1.609c1ff29a114p-45},
    {515, -0x1.7ee11ebd8p-8, -0x1.749d3c2d23a07p-47},
    {512, 0, 0},
}};
constexpr double kLn2High = 0x1.62e42fefa38p-1;
constexpr double kLn2Low = 0x1.ef35793c7673p-45;

}  // namespace

double log_to_odd(double x) {
  const u64 bits = std::bit_cast<u64>(x);
  const usize j = bits >> 45 & (kSteps - 1);
  const int halved = j >= kFirstHalved ? 1 : 0;
  const int k = static_cast<int>(bits >> 52) - 1023 + halved;
  const double m = std::bit_cast<double>((bits & 0xfffffffffffff) | static_cast<u64>(1023 - halved) << 52);
  const Step& step = kTable[j];
  const double r = m * (step.inverse * kInverseUnit) - 1;
  // |r| <= 2^-7 is a multiple of 2^-33: r^2 is exact. The first term left out, r^11 / 11, is below 2^-73 * |r|.
  const double square = r * r;
  const double tail =
      square * r *
      (1.0 / 3 -
       r * (1.0 / 4 - r * (1.0 / 5 - r * (1.0 / 6 - r * (1.0 / 7 - r * (1.0 / 8 - r * (1.0 / 9 - r * (1.0 / 10))))))));
  const double u = r - square / 2;
  const double u_low = (r - u) - square / 2;
  const double a = k * kLn2High + step.high;
  const double rest = tail + (u_low + (k * kLn2Low + step.low));
  // Either a is 0, or it is the larger one.
  const double s = a + u;
  const double s_low = a == 0 ? 0 : (a - s) + u;
  const double high = s + (s_low + rest);
  const double low = (s - high) + (s_low + rest);
  return high == 0 ? 0 : join_to_odd(high, low);
}

}  // namespace vinci::isa
